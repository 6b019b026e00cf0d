"""Compare two builds of an engine that answered the same prompts in the same blocks.

Each block is one measurement of the change of every arm:

    m_b = log(ratio) + mean over tasks of the mean over prompts of t_p / T * clip(x_pb - x_p)

where ratio is the time ratio of all prompts (`estimates.intervals`), t_p the time of prompt p under
base, T the mean of these, x_pb the log ratio of head over base in block b, and x_p its median over
the blocks. A deviation is clipped at three robust standard deviations of all of them, so that a
stall of one trial is not taken for a property of a build. The interval is Student's t over blocks.
Its level is shared by all tests of a comparison (Bonferroni): a build compared with itself then
shows a difference anywhere in less than one comparison of fifty (`python -m bench.builds`).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from estimates.decomposition import acceptance_rate, can_draft, tokens_per_round
from estimates.identity import identify
from estimates.intervals import Strata, mean_times, time_ratio
from estimates.model import Interval
from estimates.pairing import PromptPairs, pair
from estimates.ratios import together
from estimates.repeatability import by_task
from estimates.student_t import t_quantile
from schemas.codec import Json, encode
from schemas.submission import Arm, Submission, Trial

Counter = Callable[[Sequence[Trial]], float | None]
Logs = NDArray[np.float64]
# `higher` and `lower` are about head.
Direction = Literal["higher", "lower", "no-difference", "unclear"]

ERROR_RATE, THRESHOLD = 0.02, 0.01
_WITHIN = 0.9  # two one-sided tests of 95 % each
WIDE = 0.05
FEWEST_BLOCKS = 6  # that as many point one way happens by chance in 2 of 64 comparisons
_FULL_BLOCK = 0.9
_CLIPPED_AT = 3 * 1.4826  # robust standard deviations in median absolute deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChange:
    """A quantity under both builds, and head over base with its interval over blocks."""

    base: float
    head: float
    ratio: float
    interval: Interval | None
    direction: Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Prompts by whether both builds always wrote the same; `unstable`: one did not repeat it."""

    identical: int
    different: int
    not_compared: int
    unstable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmChange:
    """One arm under both builds; `failed` says which cannot run it, and why. Speed: tokens/s."""

    arm: str
    prompts: int = 0
    blocks: int = 0
    failed: str | None = None
    speed: FigureChange | None = None
    round_cost: FigureChange | None = None
    tokens_per_round: FigureChange | None = None
    acceptance_rate: FigureChange | None = None
    outputs: Outputs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two builds, arm by arm; `level` is that of each interval."""

    base: str
    head: str
    threshold: float
    level: float
    arms: tuple[ArmChange, ...]

    def whose_speed_is(self, direction: Direction) -> tuple[ArmChange, ...]:
        """The arms whose speed changed so."""
        return tuple(each for each in self.arms if each.speed and each.speed.direction == direction)

    @property
    def verdict(self) -> Literal["slower", "failed", "unclear", "faster", "no-difference"]:
        """What matters most: a slowdown, then what could not be measured, then a gain."""
        if self.whose_speed_is("lower"):
            return "slower"
        if any(each.failed for each in self.arms):
            return "failed"
        if self.whose_speed_is("unclear"):
            return "unclear"
        return "faster" if self.whose_speed_is("higher") else "no-difference"


def block_means(logs: Logs, weights: Logs) -> Logs:
    """One log ratio for each block, from an array whose last axes are prompts and blocks."""
    middle = np.median(logs, axis=-1, keepdims=True)
    off = logs - middle
    limit = _CLIPPED_AT * np.median(np.abs(off), axis=(-2, -1), keepdims=True)
    return np.asarray(np.einsum("...pb,p->...b", middle + np.clip(off, -limit, limit), weights))


def half_width(means: Logs, level: float) -> Logs:
    """Half-width of the t interval over blocks, the last axis, as a logarithm."""
    blocks = means.shape[-1]
    factor = t_quantile(blocks - 1, (1 + level) / 2) / math.sqrt(blocks)
    return np.asarray(factor * np.std(means, axis=-1, ddof=1))


def judge(means: Logs, level: float, threshold: float) -> tuple[float, Interval | None, Direction]:
    """The ratio of block means, its interval, and what they say.

    A change is one that the interval shows and that is not below the threshold. Without one, a
    change of `WIDE` must be excluded either way (two one-sided tests at 95 %), else it is unclear.
    """
    ratio = math.exp(float(np.mean(means)))
    if len(means) < FEWEST_BLOCKS:
        return ratio, None, "unclear"
    interval, inner = (
        Interval(low=ratio * math.exp(-off), high=ratio * math.exp(off))
        for off in (float(half_width(means, each)) for each in (level, _WITHIN))
    )
    if interval.high < 1 and ratio <= 1 - threshold:
        return ratio, interval, "lower"
    if interval.low > 1 and ratio >= 1 + threshold:
        return ratio, interval, "higher"
    wide = inner.low < 1 - WIDE or inner.high > 1 + WIDE
    return ratio, interval, "unclear" if wide else "no-difference"


def level_of(tests: int) -> float:
    """The level of each of so many intervals."""
    return 1 - ERROR_RATE / tests


def compare(base: Submission, head: Submission, *, threshold: float = THRESHOLD) -> Comparison:
    """Every arm of `base` with the arm of the same id of `head`."""
    # A speed for each arm, and R for those that speculate.
    level = level_of(len(base.arms) + sum(arm.role == "speculation" for arm in base.arms))
    judged = _Judge(base=base, head=head, level=level, threshold=threshold)
    return Comparison(
        base=identify(base).engine_build,
        head=identify(head).engine_build,
        threshold=threshold,
        level=level,
        arms=tuple(judged.arm(arm) for arm in base.arms),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    base: Submission
    head: Submission
    level: float
    threshold: float

    def arm(self, arm: Arm) -> ArmChange:
        failed = "; ".join(self._failures(arm.id))
        found = _Paired.of(self._pairs(arm.id))
        if failed or found is None:
            return ArmChange(arm=arm.id, failed=failed or "no prompt was answered by both builds")
        plain = _Paired.of(self._pairs(arm.baseline)) if arm.baseline else None
        drafts = arm.role == "speculation" and can_draft(arm.method)
        return ArmChange(
            arm=arm.id,
            prompts=len(found.pairs),
            blocks=len(found.blocks),
            speed=self._change(found.speeds(), found.means()),
            round_cost=self._round_cost(found, plain) if drafts and plain else None,
            tokens_per_round=self._counted(found, tokens_per_round) if drafts else None,
            acceptance_rate=self._counted(found, acceptance_rate) if drafts else None,
            outputs=_outputs(found.pairs),
        )

    def _failures(self, arm: str) -> Iterator[str]:
        for name, submission in (("base", self.base), ("head", self.head)):
            own = next((each for each in submission.arms if each.id == arm), None)
            trials = [trial for trial in submission.trials if trial.arm == arm]
            reason = own.reason if own else "not measured"
            if own is None or own.outcome == "failed":
                yield f"{name} cannot run it ({reason})"
            elif trials and all(trial.outcome == "failed" for trial in trials):
                yield f"no answer of {name} ended ({trials[0].reason})"

    def _pairs(self, arm: str) -> tuple[PromptPairs, ...]:
        return pair(*together(self.base, self.head, arm, arm))

    def _change(self, values: tuple[float, float], means: Logs) -> FigureChange:
        ratio, interval, direction = judge(means, self.level, self.threshold)
        return FigureChange(
            base=values[0], head=values[1], ratio=ratio, interval=interval, direction=direction
        )

    def _counted(self, found: "_Paired", value: Counter) -> FigureChange | None:
        """A ratio of counters, pooled over the prompts of each block."""
        counts = found.counted(value)
        if counts is None:
            return None
        base, head = counts
        return self._change((float(np.mean(base)), float(np.mean(head))), np.log(head / base))

    def _round_cost(self, found: "_Paired", plain: "_Paired") -> FigureChange | None:
        """R of each build from its own baseline: tokens per round over the speedup."""
        counts = found.counted(tokens_per_round)
        if counts is None or found.blocks != plain.blocks:
            return None
        base, head = counts
        means = np.log(head / base) - found.means() + plain.means()
        (arm, arm_head), (baseline, baseline_head) = found.speeds(), plain.speeds()
        cost = float(np.mean(base)) * baseline / arm
        cost_head = float(np.mean(head)) * baseline_head / arm_head
        return self._change((cost, cost_head), means)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paired:
    """The prompts that both builds answered in every one of the blocks that count."""

    pairs: tuple[PromptPairs, ...]
    blocks: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Sequence[PromptPairs]) -> "_Paired | None":
        """Blocks with nine tenths of the prompts, and the prompts that all of these have."""
        at = [{trial.block for trial in each.trials} for each in pairs]
        blocks = tuple(
            block
            for block in sorted(set().union(*at))
            if sum(block in own for own in at) >= _FULL_BLOCK * len(pairs)
        )
        kept = tuple(each for each, own in zip(pairs, at, strict=True) if own.issuperset(blocks))
        return cls(pairs=kept, blocks=blocks) if kept and blocks else None

    def means(self) -> Logs:
        """The log ratio of the speeds, head over base, of each block."""
        times, rows = self.times, []
        base_ms = mean_times(times)[0]
        for each in self.pairs:
            ratio = dict(zip((t.block for t in each.trials), each.block_log_ratios, strict=True))
            rows.append([ratio[block] for block in self.blocks])
        tasks = [each.prompt.task for each in self.pairs]
        weights = np.asarray(
            [
                each.baseline_ms / base_ms / (len(times) * tasks.count(each.prompt.task))
                for each in self.pairs
            ]
        )
        logs = np.asarray(rows, np.float64)
        middle = float(np.median(logs, axis=-1) @ weights)
        return block_means(logs, weights) + math.log(time_ratio(times)) - middle

    def speeds(self) -> tuple[float, float]:
        """Tokens per second of base, and what they are with head: the first times the change."""
        base = 1000 / mean_times(self.times)[0]
        return base, base * math.exp(float(np.mean(self.means())))

    @property
    def times(self) -> Strata:
        return [
            [(each.baseline_ms, each.arm_ms) for each in group] for group in by_task(self.pairs)
        ]

    def counted(self, value: Counter) -> tuple[Logs, Logs] | None:
        """The value of each block under base and head; `None` if one is unknown or zero."""
        found = [
            value([trial for trial in trials if trial.block == block])
            for trials in (
                [trial for each in self.pairs for trial in each.baseline_trials],
                [trial for each in self.pairs for trial in each.trials],
            )
            for block in self.blocks
        ]
        if not all(found):
            return None
        base, head = np.split(np.asarray(found, np.float64), 2)
        return base, head


def to_json(found: Comparison) -> dict[str, Json]:
    """The verdict, and what it follows from, for machines."""
    return {"verdict": found.verdict} | cast("dict[str, Json]", encode(found))


def _outputs(pairs: Sequence[PromptPairs]) -> Outputs:
    seen = [
        ({t.output_sha256 for t in each.baseline_trials}, {t.output_sha256 for t in each.trials})
        for each in pairs
    ]
    known = [(base, head) for base, head in seen if None not in base | head]
    return Outputs(
        identical=sum(len(base | head) == 1 for base, head in known),
        different=sum(len(base | head) > 1 for base, head in known),
        not_compared=len(seen) - len(known),
        unstable=sum(len(base) > 1 or len(head) > 1 for base, head in known),
    )
