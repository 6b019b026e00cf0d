"""Flags about repetitions of the same trial that disagree.

Each disturbance raises one flag. A drift or a cold start has a separate flag. `block-outlier` is
about single disturbed trials, `block-spread` about a machine that is unsteady throughout, and
`clocks-disagree` about trials that these two flags do not name.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from estimates.flags.catalogue import Observation, bounds
from estimates.flags.evidence import FlagEvidence, Repeats, only, shared
from estimates.flags.trend import cold_groups, without_drift
from estimates.intervals import deviation
from estimates.trial_times import decode_ms_per_token, ms_per_token
from schemas.vocabulary import say

BLOCK_CV = bounds("block-spread")["spread"]
OUTLIER = bounds("block-outlier")
CLOCK_FACTOR = bounds("clocks-disagree")["factor"]


Outliers: TypeAlias = Mapping[tuple[str, str], float]  # values beyond a limit, by arm and prompt


def block_spread(evidence: FlagEvidence) -> Observation | None:
    """The same trial takes clearly different times in different blocks."""
    return _observed(_unsteady(evidence), evidence)


def block_outlier(evidence: FlagEvidence) -> Observation | None:
    """Single trials are far from the mean over blocks."""
    return _observed(_few_outliers(evidence), evidence)


def clocks_disagree(evidence: FlagEvidence) -> Observation | None:
    """An answer's decode time is far from the sum of its rounds' median times."""
    known = _unsteady(evidence).keys() | _few_outliers(evidence).keys()
    rest = [group for group in evidence.repeats if group.key not in known]
    return _observed(_outliers(rest, _clock_factor, CLOCK_FACTOR), evidence)


def _observed(found: Outliers, evidence: FlagEvidence) -> Observation | None:
    """Summarise groups in one observation, with counts and the worst group."""
    if not found:
        return None
    arms, prompts = ({key[part] for key in found} for part in (0, 1))
    worst_arm, worst_prompt = max(found, key=found.__getitem__)
    among = {group.prompt for group in evidence.repeats if group.arm in arms}
    place = f"on {len(prompts)} of {say.count(len(among), 'prompt')}"
    if len(arms) > 1:
        place += f" in {len(arms)} arms"
    return Observation(
        value=max(found.values()),
        place=place,
        worst_arm=worst_arm,
        worst_prompt=worst_prompt,
        arm=only(arms),
        prompt=worst_prompt,
    )


@shared
def steady_groups(evidence: FlagEvidence) -> frozenset[tuple[str, str]]:
    """The pairs of arm and prompt whose repetitions agree."""
    return frozenset(g.key for g in without_drift(evidence) if _cv(g) <= BLOCK_CV)


@shared
def _unsteady(evidence: FlagEvidence) -> Outliers:
    """Groups with a large spread that neither a single outlier nor a cold start explains."""
    named = _few_outliers(evidence)
    return _outliers([g for g in _unexplained(evidence) if g.key not in named], _cv, BLOCK_CV)


@shared
def _few_outliers(evidence: FlagEvidence) -> Outliers:
    """Groups of repeated trials with an outlier; empty if there are many such groups."""
    outliers = _outliers(_unexplained(evidence), _farthest, OUTLIER["distance"])
    return outliers if len(outliers) <= OUTLIER["most"] * len(evidence.repeats) else {}


@shared
def _unexplained(evidence: FlagEvidence) -> list[Repeats]:
    """The groups of repeated trials without a cold start, with times corrected for drift."""
    cold = cold_groups(evidence)
    return [g for g in without_drift(evidence) if g.key not in cold]


def _outliers(
    groups: Sequence[Repeats], measure: Callable[[Repeats], float], limit: float
) -> Outliers:
    return {group.key: value for group in groups if (value := measure(group)) > limit}


def _cv(group: Repeats) -> float:
    """The standard deviation of the times over their mean; 0 for a single block."""
    times = group.ms_per_token
    return deviation(times) / fmean(times) if len(times) > 1 else 0.0


def _farthest(group: Repeats) -> float:
    center = fmean(group.ms_per_token)
    return max(abs(ms - center) for ms in group.ms_per_token) / center


def _clock_factor(group: Repeats) -> float:
    factors = [
        whole / by_rounds
        for trial in group.trials
        if (whole := decode_ms_per_token(trial)) and (by_rounds := ms_per_token(trial))
    ]
    return max(max(factor, 1 / factor) for factor in factors)
