"""Flags about suspiciously equal values: times of repetitions, or answers to different prompts.

Readings of a coarse clock may agree because of rounding. But even on quiet machines, times vary by
more than the share `tolerance`, so the chance of a tie is at most the clock's step divided by that
share of the time.
"""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from statistics import median

from estimates.flags.catalogue import Observation, bounds
from estimates.flags.digits import clock_step
from estimates.flags.evidence import FlagEvidence, only
from schemas.submission import Trial

ZERO, REPEATED = bounds("zero-spread"), bounds("repeated-block")
SAME = bounds("same-answers")
LogTimes = Mapping[tuple[str, str], float]


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
