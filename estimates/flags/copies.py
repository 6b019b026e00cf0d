"""Flags about suspiciously equal values: equal repetitions, equal answers.

Readings of a coarse clock may agree because of rounding. But even on quiet machines, times vary by
more than the share `tolerance`, so the chance of a tie is at most the clock's step divided by that
share of the time.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import combinations, pairwise
from statistics import median

from estimates.flags.observation import FlagEvidence, Observation, bounds, only, shared
from schemas.submission import Trial

ZERO, REPEATED = bounds("zero-spread"), bounds("repeated-block")
SAME = bounds("same-answers")
LogTimes = Mapping[tuple[str, str], float]
# The harness writes microseconds at the finest; further digits come from arithmetic.
_FINEST_DECIMALS = 3
# The distance in ticks between a coarse clock's printed reading and a multiple of its tick.
_OFF_TICK = Decimal("0.1")
# Clocks that count milliseconds or hundredths of a second, Windows (1/64 s), and screens.
_TICKS_MS, _TICKS_DIFFER = (1.0, 10.0, 15.6, 16.7), 0.01


def zero_spread(evidence: FlagEvidence) -> Observation | None:
    """Repetitions took exactly the same time, more often than the clock's resolution explains."""
    step_ms = clock_step(evidence)
    repeated = [
        (group, _chance_of_tie(group.trials[0], step_ms))
        for group in evidence.repeats
        if len(group.trials) > 1
    ]
    tied = [tie for tie in repeated if len({t.decode_ms for t in tie[0].trials}) == 1]
    same = [group for group, _ in tied]
    sure = [
        group
        for group, chance in tied
        if len(group.trials) >= ZERO["sure_repeats"] and chance <= ZERO["share"]
    ]
    expected = sum(chance for _, chance in repeated)
    if not sure and len(same) <= expected + ZERO["share"] * len(repeated):
        return None
    return Observation(
        same=len(same),
        repeated=len(repeated),
        arm=only(group.arm for group in same),
        prompt=(sure or same)[0].prompt,
    )


def repeated_block(evidence: FlagEvidence) -> Observation | None:
    """A block repeats an earlier block's times, up to a common factor and within 0.1 %."""
    by_block: dict[int, dict[tuple[str, str], float]] = {}
    step_ms = clock_step(evidence)
    for group in evidence.repeats:
        for trial, ms in zip(group.trials, group.ms_per_token, strict=True):
            if _chance_of_tie(trial, step_ms) == 1:
                continue
            by_block.setdefault(trial.block, {})[group.arm, group.prompt] = math.log(ms)
    shares = [
        (_share_alike(by_block[first], by_block[second]), second)
        for first, second in combinations(sorted(by_block), 2)
    ]
    share, block = max(shares, key=lambda pair: (pair[0], -pair[1]), default=(0.0, 0))
    if share < REPEATED["share"] or zero_spread(evidence) is not None:
        return None
    return Observation(share=share, block=block)


def same_answers(evidence: FlagEvidence) -> Observation | None:
    """At least half of the prompts have the same text, or the same answer, as another prompt."""
    long = [
        each for each in evidence.submission.trials if (each.output_tokens or 0) >= SAME["least"]
    ]
    texts = {each.id: each.rendered_sha256 for each in evidence.submission.suite.prompts}
    answers = {each.prompt: each.output_sha256 for each in long}
    for case, by_prompt in (("prompts", texts), ("answers", answers)):
        digests = Counter(digest for digest in by_prompt.values() if digest is not None)
        same = sum(count for count in digests.values() if count > 1)
        if same >= max(SAME["fewest"], SAME["share"] * digests.total()):
            return Observation(case=case, same=same, count=digests.total())
    return None


def _chance_of_tie(trial: Trial, step_ms: float) -> float:
    """An upper bound on the chance that two repetitions tie: the chance on the quietest machine."""
    return min(1.0, step_ms / (REPEATED["tolerance"] * (trial.decode_ms or step_ms)))


def _share_alike(first: LogTimes, second: LogTimes) -> float:
    """The share of trials whose time ratio between blocks is within 0.1 % of the median ratio."""
    ratios = [second[key] - first[key] for key in first.keys() & second.keys()]
    if len(ratios) < REPEATED["fewest"]:
        return 0.0
    center = median(ratios)
    return sum(abs(ratio - center) <= REPEATED["tolerance"] for ratio in ratios) / len(ratios)


@shared
def clock_step(evidence: FlagEvidence) -> float:
    """The resolution of the clock in milliseconds, as far as times reveal it.

    Some clocks advance by a tick of `_TICKS_MS`. Every time is then close to a multiple of the
    smallest difference between two times. Otherwise the resolution is that of the printed decimals.
    """
    times = sorted(set(_times(evidence)))
    gaps = [after - before for before, after in pairwise(times)]
    if gaps:
        least = min(gaps)
        tick = (times[-1] - times[0]) / sum(round(gap / least) for gap in gaps)
        is_real = any(math.isclose(tick, each, rel_tol=_TICKS_DIFFER) for each in _TICKS_MS)
        if is_real and all(abs(each / tick - round(each / tick)) < _OFF_TICK for each in times):
            return float(tick)
    return float(_step(times)) if times else 0.0


def _times(evidence: FlagEvidence) -> list[Decimal]:
    """All decode times in milliseconds, rounded to the microsecond."""
    finest = Decimal(1).scaleb(-_FINEST_DECIMALS)
    return [
        Decimal(repr(each.decode_ms)).quantize(finest)
        for each in evidence.submission.trials
        if each.decode_ms
    ]


def _step(times: Sequence[Decimal]) -> Decimal:
    """The largest power of ten that divides all times."""
    step = Decimal(1).scaleb(-_FINEST_DECIMALS)
    while all(time % (step * 10) == 0 for time in times) and step < max(times):
        step *= 10
    return step
