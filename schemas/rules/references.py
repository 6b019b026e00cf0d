"""Rules on ids: each is unique and refers to something in the file."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from schemas.finding import Finding, choices, nearest, shown
from schemas.submission import Submission


def baseline_arm_present(submission: Submission) -> Iterator[Finding]:
    """A speedup is a comparison: some arm must be the baseline."""
    if not any(arm.role == "baseline" for arm in submission.arms):
        message = "no arm has the role baseline; run the harness with its baseline arm"
        yield Finding(path="$.arms", message=message, rule="baseline-arm-present")


def arm_ids_unique(submission: Submission) -> Iterator[Finding]:
    """An arm id names one arm."""
    ids = (arm.id for arm in submission.arms)
    yield from _repeated(ids, "$.arms", "arm-ids-unique")


def prompt_ids_unique(submission: Submission) -> Iterator[Finding]:
    """A prompt id names one prompt."""
    ids = (prompt.id for prompt in submission.suite.prompts)
    yield from _repeated(ids, "$.suite.prompts", "prompt-ids-unique")


def draft_ids_unique(submission: Submission) -> Iterator[Finding]:
    """A draft id names one model."""
    ids = (model.id for model in submission.drafts)
    yield from _repeated(ids, "$.drafts", "draft-ids-unique")


def arm_baseline(submission: Submission) -> Iterator[Finding]:
    """Every arm but a baseline names the baseline arm that it is compared with."""
    baselines = {arm.id for arm in submission.arms if arm.role == "baseline"}
    if not baselines:
        return  # baseline-arm-present says so, once
    for index, arm in enumerate(submission.arms):
        if arm.role == "baseline" and arm.baseline is not None:
            message = "a baseline arm is compared with nothing; remove the field"
        elif arm.role != "baseline" and arm.baseline not in baselines:
            message = _unknown(arm.baseline, baselines, "baseline arm")
        else:
            continue
        yield Finding(path=f"$.arms[{index}].baseline", message=message, rule="arm-baseline")


def arm_draft_known(submission: Submission) -> Iterator[Finding]:
    """A method that uses a draft model names one of the listed drafts."""
    known = {model.id for model in submission.drafts}
    for index, arm in enumerate(submission.arms):
        draft = arm.method.draft
        if draft is not None and draft not in known:
            message = _unknown(draft, known, "listed draft")
            path = f"$.arms[{index}].method.draft"
            yield Finding(path=path, message=message, rule="arm-draft-known")


def arm_reason(submission: Submission) -> Iterator[Finding]:
    """An arm has a reason exactly when it failed."""
    for index, arm in enumerate(submission.arms):
        if (arm.outcome == "failed") != (arm.reason is not None):
            message = (
                "the arm failed, and the reason is missing; add one"
                if arm.reason is None
                else "the outcome is ok; a reason belongs to failed arms only; remove it"
            )
            yield Finding(path=f"$.arms[{index}].reason", message=message, rule="arm-reason")


def probe_draft_known(submission: Submission) -> Iterator[Finding]:
    """A drafting cost belongs to one of the listed drafts."""
    known = {model.id for model in submission.drafts}
    probes = submission.probes.drafting if submission.probes else None
    for index, probe in enumerate(probes or ()):
        if probe.draft not in known:
            message = _unknown(probe.draft, known, "listed draft")
            path = f"$.probes.drafting[{index}].draft"
            yield Finding(path=path, message=message, rule="probe-draft-known")


def warmup_arm_known(submission: Submission) -> Iterator[Finding]:
    """Every discarded generation ran a listed arm."""
    known = {arm.id for arm in submission.arms}
    for index, warmup in enumerate(submission.warmups or ()):
        if warmup.arm not in known:
            message = _unknown(warmup.arm, known, "listed arm")
            yield Finding(path=f"$.warmups[{index}].arm", message=message, rule="warmup-arm-known")


def trial_arm_known(submission: Submission) -> Iterator[Finding]:
    """Every trial ran a listed arm."""
    known = {arm.id for arm in submission.arms}
    for index, trial in enumerate(submission.trials):
        if trial.arm not in known:
            message = _unknown(trial.arm, known, "listed arm")
            yield Finding(path=f"$.trials[{index}].arm", message=message, rule="trial-arm-known")


def trial_prompt_known(submission: Submission) -> Iterator[Finding]:
    """Every trial answered a listed prompt."""
    known = {prompt.id for prompt in submission.suite.prompts}
    for index, trial in enumerate(submission.trials):
        if trial.prompt not in known:
            message = _unknown(trial.prompt, known, "prompt of the suite")
            path = f"$.trials[{index}].prompt"
            yield Finding(path=path, message=message, rule="trial-prompt-known")


def trial_unique(submission: Submission) -> Iterator[Finding]:
    """An arm answers a prompt once per block."""
    first: dict[tuple[str, str, int], int] = {}
    for index, trial in enumerate(submission.trials):
        earlier = first.setdefault((trial.arm, trial.prompt, trial.block), index)
        if earlier != index:
            message = f"same arm, prompt and block as $.trials[{earlier}]; keep one of them"
            yield Finding(path=f"$.trials[{index}]", message=message, rule="trial-unique")


def trial_order(submission: Submission) -> Iterator[Finding]:
    """The positions in the running order are 0, 1, 2 … without gap or repetition."""
    positions = sorted(trial.order for trial in submission.trials)
    if positions != list(range(len(positions))):
        message = (
            f"the order of {len(positions)} trials must hold each of 0 to {len(positions) - 1} "
            "once; number them in the order in which they ran"
        )
        yield Finding(path="$.trials", message=message, rule="trial-order")


def trial_reason(submission: Submission) -> Iterator[Finding]:
    """A trial that finished has no reason for a failure."""
    for index, trial in enumerate(submission.trials):
        if trial.outcome == "ok" and trial.reason is not None:
            message = "the outcome is ok; a reason belongs to failed trials only; remove it"
            yield Finding(path=f"$.trials[{index}].reason", message=message, rule="trial-reason")


def origin_of_import(submission: Submission) -> Iterator[Finding]:
    """An imported file says where it comes from; a measured one has no other origin."""
    if (submission.tier == "imported") != (submission.origin is not None):
        message = (
            "the tier is measured; origin belongs to imported files only; remove it"
            if submission.origin
            else "the tier is imported; add the origin, or set the tier to measured"
        )
        yield Finding(path="$.origin", message=message, rule="origin-of-import")


def _unknown(name: str | None, known: Collection[str], sort: str) -> str:
    if name is None:
        return f"the field is missing; name a {sort}: {choices(known)}"
    return f"{shown(name)} is not a {sort}{nearest(name, known)}; expected one of {choices(known)}"


def _repeated(ids: Iterable[str], path: str, rule: str) -> Iterator[Finding]:
    for name, times in sorted(Counter(ids).items()):
        if times > 1:
            message = f"the id {shown(name)} occurs {times} times; give each entry an id of its own"
            yield Finding(path=path, message=message, rule=rule)
