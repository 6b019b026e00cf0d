"""Do ids point at things that exist, and only once?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from schemas.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
            message = f"{arm.baseline!r} names no baseline arm; name one of {sorted(baselines)}"
        else:
            continue
        yield Finding(path=f"$.arms[{index}].baseline", message=message, rule="arm-baseline")


def arm_draft_known(submission: Submission) -> Iterator[Finding]:
    """A method that uses a draft model names one of the listed drafts."""
    known = {model.id for model in submission.drafts}
    for index, arm in enumerate(submission.arms):
        draft = getattr(arm.method, "draft", None)
        if draft is not None and draft not in known:
            message = f"{draft!r} is no listed draft; expected one of {sorted(known)}"
            path = f"$.arms[{index}].method.draft"
            yield Finding(path=path, message=message, rule="arm-draft-known")


def arm_reason(submission: Submission) -> Iterator[Finding]:
    """An arm has a reason exactly when it failed."""
    for index, arm in enumerate(submission.arms):
        if (arm.outcome == "failed") != (arm.reason is not None):
            message = f"the outcome is {arm.outcome}; a reason belongs to failed arms only"
            yield Finding(path=f"$.arms[{index}].reason", message=message, rule="arm-reason")


def probe_draft_known(submission: Submission) -> Iterator[Finding]:
    """A drafting cost belongs to one of the listed drafts."""
    known = {model.id for model in submission.drafts}
    probes = submission.probes.drafting if submission.probes else None
    for index, probe in enumerate(probes or ()):
        if probe.draft not in known:
            message = f"{probe.draft!r} is no listed draft; expected one of {sorted(known)}"
            path = f"$.probes.drafting[{index}].draft"
            yield Finding(path=path, message=message, rule="probe-draft-known")


def warmup_arm_known(submission: Submission) -> Iterator[Finding]:
    """Every discarded generation ran a listed arm."""
    known = {arm.id for arm in submission.arms}
    for index, warmup in enumerate(submission.warmups or ()):
        if warmup.arm not in known:
            message = f"{warmup.arm!r} is no listed arm; expected one of {sorted(known)}"
            yield Finding(path=f"$.warmups[{index}].arm", message=message, rule="warmup-arm-known")


def trial_arm_known(submission: Submission) -> Iterator[Finding]:
    """Every trial ran a listed arm."""
    known = {arm.id for arm in submission.arms}
    for index, trial in enumerate(submission.trials):
        if trial.arm not in known:
            message = f"{trial.arm!r} is no listed arm; expected one of {sorted(known)}"
            yield Finding(path=f"$.trials[{index}].arm", message=message, rule="trial-arm-known")


def trial_prompt_known(submission: Submission) -> Iterator[Finding]:
    """Every trial answered a listed prompt."""
    known = {prompt.id for prompt in submission.suite.prompts}
    for index, trial in enumerate(submission.trials):
        if trial.prompt not in known:
            message = f"{trial.prompt!r} is no prompt of the suite; list it in $.suite.prompts"
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
        message = f"order must be a permutation of 0 to {len(positions) - 1}"
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
        message = f"the tier is {submission.tier}; origin belongs to imported files, and only them"
        yield Finding(path="$.origin", message=message, rule="origin-of-import")


def _repeated(ids: Iterable[str], path: str, rule: str) -> Iterator[Finding]:
    for name, times in sorted(Counter(ids).items()):
        if times > 1:
            message = f"the id {name!r} stands {times} times; ids must be unique"
            yield Finding(path=path, message=message, rule=rule)
