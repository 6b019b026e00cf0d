"""Rules on the parts of a file: ids, references, roles, the plan and the running order.

A path such as `trials[].arm` means the field `arm` of every entry of the list `trials`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from operator import attrgetter

from schemas.finding import Violation, choices, nearest, shown
from schemas.submission import Submission

Rule = Callable[[Submission], Iterator[Violation]]


def unique(path: str) -> Rule:
    """The rule that no id at a path occurs twice."""

    def rule(submission: Submission) -> Iterator[Violation]:
        ids = Counter(name for name in _values(submission, path) if name is not None)
        for name, times in sorted(ids.items()):
            if times > 1:
                message = (
                    f"the id {shown(name)} occurs {times} times; give each entry a different id"
                )
                yield f"$.{path.partition('[]')[0]}", message

    rule.__doc__ = f"No two entries in `{path.partition('[]')[0]}` have the same id."
    return rule


def one_of(path: str, ids: str, sort: str) -> Rule:
    """The rule that each value at `path` is absent or an id at `ids`; messages call it a `sort`."""
    entries, _, field = path.partition("[].")

    def rule(submission: Submission) -> Iterator[Violation]:
        known = {name for name in _values(submission, ids) if name is not None}
        for index, name in enumerate(_values(submission, path)):
            if name is not None and name not in known:
                yield f"$.{entries}[{index}].{field}", _unknown(name, known, sort)

    rule.__doc__ = f"Each `{field}` in `{entries}` is the id of a {sort}."
    return rule


def _values(submission: Submission, path: str) -> Iterator[str | None]:
    """The values at a path; empty if the list is not in the file."""
    place, _, field = path.partition("[].")
    found: object = submission
    for step in place.split("."):
        found = None if found is None else attrgetter(step)(found)
    return map(attrgetter(field), found if isinstance(found, tuple) else ())


def baseline_arm_present(submission: Submission) -> Iterator[Violation]:
    """A speedup is a comparison: some arm must be the baseline."""
    if not any(arm.role == "baseline" for arm in submission.arms):
        yield "$.arms", "no arm has the role baseline; run the harness with its baseline arm"


def arm_baseline(submission: Submission) -> Iterator[Violation]:
    """Every arm except a baseline names the baseline arm that it is compared with."""
    baselines = {arm.id for arm in submission.arms if arm.role == "baseline"}
    if not baselines:
        return  # the rule baseline-arm-present reports this fault once
    for index, arm in enumerate(submission.arms):
        path = f"$.arms[{index}].baseline"
        if arm.role == "baseline" and arm.baseline is not None:
            yield path, "a baseline arm is not compared with another arm; remove the field"
        elif arm.role != "baseline" and arm.baseline not in baselines:
            yield path, _unknown(arm.baseline, baselines, "baseline arm")


def arm_reason(submission: Submission) -> Iterator[Violation]:
    """An arm states a reason if it failed, and only then."""
    for index, arm in enumerate(submission.arms):
        if (arm.outcome == "failed") != (arm.reason is not None):
            message = (
                "the arm failed, but the reason is missing; add it"
                if arm.reason is None
                else "the outcome is ok, but only a failed arm has a reason; remove the reason"
            )
            yield f"$.arms[{index}].reason", message


def trial_unique(submission: Submission) -> Iterator[Violation]:
    """An arm answers each prompt at most once per block."""
    first: dict[tuple[str, str, int], int] = {}
    for index, trial in enumerate(submission.trials):
        earlier = first.setdefault((trial.arm, trial.prompt, trial.block), index)
        if earlier != index:
            message = (
                f"the trial has the same arm, prompt and block as $.trials[{earlier}]; keep one "
                "of the two"
            )
            yield f"$.trials[{index}]", message


def trial_order(submission: Submission) -> Iterator[Violation]:
    """The positions in the running order are 0, 1, 2 … without gap or repetition."""
    positions = sorted(trial.order for trial in submission.trials)
    if positions != list(range(len(positions))):
        message = (
            f"the order of {len(positions)} trials must contain each number from 0 to "
            f"{len(positions) - 1} once; number the trials in the order in which they ran"
        )
        yield "$.trials", message


def trial_reason(submission: Submission) -> Iterator[Violation]:
    """A trial that finished states no reason for a failure."""
    for index, trial in enumerate(submission.trials):
        if trial.outcome == "ok" and trial.reason is not None:
            message = "the outcome is ok, but only a failed trial has a reason; remove the reason"
            yield f"$.trials[{index}].reason", message


def origin_of_import(submission: Submission) -> Iterator[Violation]:
    """An imported file names its origin; a measured file names no origin."""
    if (submission.tier == "imported") != (submission.origin is not None):
        message = (
            "the tier is measured, but only imported files have an origin; remove the origin"
            if submission.origin
            else "the tier is imported; add the origin, or set the tier to measured"
        )
        yield "$.origin", message


def arm_method_fits_role(submission: Submission) -> Iterator[Violation]:
    """Baselines and alternatives do not speculate; arms with the role speculation do.

    An arm with forced acceptance is an instrument, and its role is always control.
    """
    for index, arm in enumerate(submission.arms):
        plain = arm.method.type == "none"
        if arm.method.length is not None and arm.role != "control":
            message = (
                "an arm with forced acceptance shows the cost of a round, not the gain of a "
                "method; set its role to control"
            )
        elif plain and arm.role == "speculation":
            message = "the method none does not speculate; state the actual method, or another role"
        elif not plain and arm.role in ("baseline", "alternative"):
            message = (
                f"the role {arm.role} requires the method none; set the type to none, or the "
                "role to speculation"
            )
        else:
            continue
        yield f"$.arms[{index}].method.type", message


def ngram_range_ascends(submission: Submission) -> Iterator[Violation]:
    """The shortest n-gram that is looked up is no longer than the longest n-gram."""
    for index, arm in enumerate(submission.arms):
        method = arm.method
        if method.ngram_max is not None and (method.ngram_min or 0) > method.ngram_max:
            message = (
                f"ngram_min ({method.ngram_min}) exceeds ngram_max ({method.ngram_max}); "
                "give the smaller number as ngram_min"
            )
            yield f"$.arms[{index}].method.ngram_min", message


def trial_block_planned(submission: Submission) -> Iterator[Violation]:
    """A trial belongs to one of the planned blocks, or to the repeats after the last block."""
    design = submission.design
    repeats = design.repeat_beyond is not None
    for index, trial in enumerate(submission.trials):
        if trial.block >= design.blocks + repeats:
            message = (
                f"block {trial.block}, but blocks count from 0 and design.blocks is "
                f"{design.blocks}; correct one of the two"
            )
            yield f"$.trials[{index}].block", message


def _unknown(name: str | None, known: Collection[str], sort: str) -> str:
    if name is None:
        return f"the field is missing; name a {sort}: {choices(known)}"
    return f"{shown(name)} is not a {sort}{nearest(name, known)}; expected one of {choices(known)}"
