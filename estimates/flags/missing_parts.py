"""Flags about incomplete campaigns: parts of the plan are missing."""

from collections import Counter

from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, only
from estimates.significance import p_of_sign
from estimates.trial_times import is_timed
from schemas.vocabulary import say

LEAST_SHARE_OF_PROMPTS = bounds("missing-prompts")["share"]
P_OF_ONE_SIDED = bounds("one-sided-failures")["p"]
LEAST_TOKENS = bounds("short-answers")["tokens"]


def failed_arm(evidence: FlagEvidence) -> Observation | None:
    """An arm could not run at all."""
    failed = {a.id: say.reason(a.reason) for a in evidence.submission.arms if a.outcome == "failed"}
    reasons = [f"{arm} ({reason})" for arm, reason in failed.items()]
    return Observation(arms=reasons, arm=only(failed)) if failed else None


def failed_trials(evidence: FlagEvidence) -> Observation | None:
    """Some generations failed."""
    trials = evidence.submission.trials
    failed = [trial for trial in trials if trial.outcome == "failed"]
    if not failed:
        return None
    (reason, _), *_ = Counter(trial.reason for trial in failed).most_common(1)
    ran, counts = Counter(trial.arm for trial in trials), Counter(trial.arm for trial in failed)
    by_arm = [f"{count} of {ran[arm]} with {arm}" for arm, count in counts.items()]
    return Observation(
        counts=by_arm, reason=say.reason(reason), arm=only(counts), prompt=failed[0].prompt
    )


def one_sided_failures(evidence: FlagEvidence) -> Observation | None:
    """An arm fails on clearly more prompts than its baseline, or the reverse."""
    for arm in evidence.submission.arms:
        more: Counter[str] = Counter()
        for trial in evidence.submission.trials:
            if trial.outcome == "failed" and trial.arm == arm.baseline:
                more[trial.prompt] -= 1
            # A trial that timed out already counts in the figure, with its time limit.
            elif trial.outcome == "failed" and trial.arm == arm.id and trial.reason != "timed-out":
                more[trial.prompt] += 1
        own = sum(count > 0 for count in more.values())
        base = sum(count < 0 for count in more.values())
        if arm.baseline and p_of_sign(own, base) < P_OF_ONE_SIDED:
            case, fails = ("arm", arm.id) if own > base else ("baseline", arm.baseline)
            return Observation(case=case, prompts=max(own, base), own=arm.id, arm=fails)
    return None


def unpaired_trials(evidence: FlagEvidence) -> Observation | None:
    """Some finished trials have no finished baseline trial to pair with, so they do not count."""
    compared = [arm.id for arm in evidence.submission.arms if arm.role != "baseline"]
    timed = Counter(t.arm for t in evidence.submission.trials if is_timed(t))
    used: Counter[str] = Counter()
    for pairs in evidence.pairs:
        used[pairs.arm.id] += len(pairs.trials)
    lost = {arm: timed[arm] - used[arm] for arm in compared if used[arm] < timed[arm]}
    return Observation(count=sum(lost.values()), arm=only(lost)) if lost else None


def missing_prompts(evidence: FlagEvidence) -> Observation | None:
    """An arm that ran lacks trials, finished or failed, on at least a quarter of the prompts."""
    submission = evidence.submission
    ran = {(trial.arm, trial.prompt) for trial in submission.trials}
    prompts = [prompt.id for prompt in submission.suite.prompts]
    lacking: dict[str, list[str]] = {}
    for arm in submission.arms:
        missing = [prompt for prompt in prompts if (arm.id, prompt) not in ran]
        answered = len(prompts) - len(missing)
        if arm.outcome == "ok" and answered <= LEAST_SHARE_OF_PROMPTS * len(prompts):
            lacking[arm.id] = missing
    if not lacking:
        return None
    counts = [f"{len(missing)} of {len(prompts)} with {arm}" for arm, missing in lacking.items()]
    return Observation(counts=counts, arm=only(lacking), prompt=next(iter(lacking.values()))[0])


def interrupted(evidence: FlagEvidence) -> Observation | None:
    """The campaign was stopped before its plan was complete."""
    design, done = evidence.submission.design, len(evidence.submission.trials)
    stopped = design.ended == "interrupted"
    return Observation(done=done, planned=design.planned_trials) if stopped else None


def budget_spent(evidence: FlagEvidence) -> Observation | None:
    """The time budget ran out before the interval was narrow enough."""
    return Observation() if evidence.submission.design.ended == "budget-spent" else None


def resumed(evidence: FlagEvidence) -> Observation | None:
    """The campaign was interrupted and resumed, so it consists of several runs."""
    times = evidence.submission.design.resumed
    return Observation(times=times) if times else None


def quick(evidence: FlagEvidence) -> Observation | None:
    """The campaign used the quick profile: fewer prompts and shorter outputs."""
    return Observation() if evidence.submission.profile == "quick" else None


def short_answers(evidence: FlagEvidence) -> Observation | None:
    """Answers were limited to a few tokens."""
    tokens = evidence.submission.settings.max_output_tokens
    return Observation(tokens=tokens) if tokens is not None and tokens < LEAST_TOKENS else None


def single_block(evidence: FlagEvidence) -> Observation | None:
    """There is only one block, so the noise between blocks is unknown."""
    last = max((trial.block for trial in evidence.submission.trials), default=0)
    return Observation() if last == 0 else None
