"""Flags about counted drafts that contradict the server's metrics or the setting."""

from estimates.decomposition import tokens_per_round
from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, only

LENGTH_APART = bounds("acceptance-not-as-set")["apart"]


def counters_disagree(evidence: FlagEvidence) -> Observation | None:
    """The server's metrics page and its responses count drafts differently.

    Figures use the counts in the responses. If these omit rounds, acceptance and round costs are
    wrong. The speedup is still right, because it is computed from tokens and times.
    """
    apart = [
        trial
        for trial in evidence.submission.trials
        if trial.metrics_drafted not in (None, trial.drafted)
        or trial.metrics_accepted not in (None, trial.accepted)
    ]
    if not apart:
        return None
    arms = list(dict.fromkeys(trial.arm for trial in apart))
    return Observation(
        trials=len(apart),
        arms=arms,
        by_answer=sum(trial.drafted or 0 for trial in apart),
        by_page=sum(trial.metrics_drafted or 0 for trial in apart),
        arm=only(arms),
        prompt=apart[0].prompt,
    )


def acceptance_not_as_set(evidence: FlagEvidence) -> Observation | None:
    """An arm with forced acceptance does not yield the tokens per round that were set."""
    found: dict[str, str] = {}
    for arm in evidence.submission.arms:
        trials = [trial for trial in evidence.submission.trials if trial.arm == arm.id]
        yielded = tokens_per_round([trial for trial in trials if trial.outcome == "ok"])
        length = arm.method.length
        if yielded is None or length is None:
            continue
        if abs(yielded / length - 1) > LENGTH_APART:
            found[arm.id] = f"{yielded:.2f} instead of {length:g} with {arm.id}"
    return Observation(arms=[*found.values()], arm=only(found)) if found else None
