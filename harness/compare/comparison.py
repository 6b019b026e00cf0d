"""Compare two builds of an engine that answered the same prompts in the same blocks.

Each block measures every arm's change once. The logarithm of the change in tokens/s is:

    m_b = log(ratio) + mean over tasks of the mean over prompts of t_p / T * clip(x_pb - x_p)

where ratio is the time ratio of all prompts (`estimates.intervals`), t_p the time of prompt p under
base, T the mean of these, x_pb the log of base's time over head's in block b, and x_p its median
over the blocks. A deviation is clipped at three robust standard deviations of all deviations, so
that a stall of one trial does not count as a property of a build. Prompt reading and the whole
request, both timed by the client's clock, are compared in the same way. The interval is Student's t
over blocks. Its level is shared by all tests of a comparison (Bonferroni): a build compared with
itself then shows any difference in fewer than one comparison in fifty (`python -m bench.builds`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from estimates.decomposition import acceptance_rate, can_draft, tokens_per_round
from estimates.distributions import t_quantile
from estimates.flags.generated import InvalidAnswers, worse
from estimates.identity import identify
from estimates.model import Interval
from estimates.pairing import PromptPairs, pair
from estimates.ratios import merge_submissions
from harness.compare.paired_blocks import (
    ByClock,
    Counter,
    Logs,
    PairedBlocks,
    by_reading,
    by_request,
    by_writing,
)
from schemas.submission import Arm, Submission

# `higher` and `lower` refer to head.
Direction = Literal["higher", "lower", "no-difference", "unclear"]
Deciding = Literal["writing", "reading", "whole request"]

ERROR_RATE, FAIL_BELOW = 0.02, 0.99
_WITHIN = 0.9  # two one-sided tests of 95 % each
WIDE = 0.05
FEWEST_BLOCKS = 6  # six blocks agree in direction by chance in 2 of 64 comparisons
# A client on a busy machine cannot detect smaller differences: sockets and scheduling take as long.
CLIENT_GRAIN_MS = 3.0
PRECISE = 0.02  # a comparison may end once every interval is this narrow, as a share of the ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChange:
    """A quantity under both builds, and the ratio of head to base with its interval over blocks."""

    base: float
    head: float
    ratio: float
    interval: Interval | None
    direction: Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Numbers of prompts by how the builds' answers compare; `unstable`: varying in one build."""

    identical: int
    different: int
    not_compared: int
    unstable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmChange:
    """One arm under both builds; `failed` is the reason why the arm cannot be compared.

    `speed` is in tokens/s of the answer, `prompt_speed` in tokens/s of the prompt, `whole_request`
    in ms. `invalid` is set if more answers of head than of base lack the form that their prompts
    ask for.
    """

    arm: str
    prompts: int = 0
    blocks: int = 0
    failed: str | None = None
    speed: FigureChange | None = None
    prompt_speed: FigureChange | None = None
    whole_request: FigureChange | None = None
    round_cost: FigureChange | None = None
    tokens_per_round: FigureChange | None = None
    acceptance_rate: FigureChange | None = None
    outputs: Outputs | None = None
    invalid: InvalidAnswers | None = None

    @property
    def deciding(self) -> dict[Deciding, FigureChange]:
        """The changes that decide the verdict: in writing, prompt reading, and whole requests."""
        found: dict[Deciding, FigureChange | None] = {
            "writing": self.speed,
            "reading": self.prompt_speed,
            "whole request": self.whole_request,
        }
        return {name: each for name, each in found.items() if each is not None}

    def whose(self, direction: Literal["faster", "slower"]) -> dict[Deciding, FigureChange]:
        """The deciding changes that make head faster, or those that make it slower.

        The whole request is given as a time, so lower is faster.
        """
        better, worse = ("higher", "lower") if direction == "faster" else ("lower", "higher")
        return {
            name: each
            for name, each in self.deciding.items()
            if each.direction == (worse if name == "whole request" else better)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildComparison:
    """Two builds, compared arm by arm.

    `level` is the confidence level of each interval, `confidence` that of all of them together.
    """

    base: str
    head: str
    fail_below: float
    level: float
    arms: tuple[ArmChange, ...]
    confidence: float = 1 - ERROR_RATE

    @property
    def verdict(
        self,
    ) -> Literal["invalid-answers", "slower", "failed", "unclear", "faster", "no-difference"]:
        """The first that applies: invalid answers, slower, failed, unclear, faster, unchanged."""
        if any(each.invalid for each in self.arms):
            return "invalid-answers"
        if any(each.whose("slower") for each in self.arms):
            return "slower"
        if any(each.failed for each in self.arms):
            return "failed"
        if any(each.direction == "unclear" for arm in self.arms for each in arm.deciding.values()):
            return "unclear"
        return "faster" if any(each.whose("faster") for each in self.arms) else "no-difference"

    @property
    def is_precise(self) -> bool:
        """Whether every deciding interval is so narrow that no more blocks are needed."""
        figures = [each for arm in self.arms for each in arm.deciding.values()]
        return bool(figures) and all(
            each.interval is not None and each.interval.log_half_width <= PRECISE
            for each in figures
        )


def half_width(means: Logs, level: float) -> Logs:
    """Return the half-width of the t interval over blocks (the last axis), as a logarithm."""
    blocks = means.shape[-1]
    factor = t_quantile(blocks - 1, (1 + level) / 2) / math.sqrt(blocks)
    return np.asarray(factor * np.std(means, axis=-1, ddof=1))


def judge(means: Logs, level: float, fail_below: float) -> tuple[float, Interval | None, Direction]:
    """Return the mean ratio over blocks, its interval, and the direction of the change.

    The build changed if the interval is entirely below the bound, or above its inverse. It did not
    change if two one-sided tests at 95 % exclude a change of `WIDE` in either direction, or of the
    bound if that is farther from 1. Otherwise the result is unclear.
    """
    ratio = math.exp(float(np.mean(means)))
    if len(means) < FEWEST_BLOCKS:
        return ratio, None, "unclear"
    interval, inner = (
        Interval(low=ratio * math.exp(-off), high=ratio * math.exp(off))
        for off in (float(half_width(means, each)) for each in (level, _WITHIN))
    )
    if interval.high < fail_below:
        return ratio, interval, "lower"
    if interval.low > 1 / fail_below:
        return ratio, interval, "higher"
    wide = min(fail_below, 1 - WIDE)
    is_wide = inner.low < wide or inner.high > 1 / wide
    return ratio, interval, "unclear" if is_wide else "no-difference"


def level_of(tests: int) -> float:
    """Return the confidence level of each interval if this many share the error rate."""
    return 1 - ERROR_RATE / tests


def tests_of(arms: int, speculating: int) -> int:
    """Return the number of intervals that share the error rate: 3 per arm, 4 if the arm drafts."""
    return 3 * arms + speculating


def compare(
    base: Submission, head: Submission, *, fail_below: float = FAIL_BELOW
) -> BuildComparison:
    """Compare every arm of `base` with the arm that has the same id in `head`."""
    speculating = sum(arm.role == "speculation" for arm in base.arms)
    level = level_of(tests_of(len(base.arms), speculating))
    judged = _Judge(base=base, head=head, level=level, fail_below=fail_below)
    return BuildComparison(
        base=identify(base).engine_build,
        head=identify(head).engine_build,
        fail_below=fail_below,
        level=level,
        arms=tuple(judged.arm(arm) for arm in base.arms),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    base: Submission
    head: Submission
    level: float
    fail_below: float

    def arm(self, arm: Arm) -> ArmChange:
        failed = "; ".join(self._failures(arm.id))
        blocks = PairedBlocks.of(self._pairs(arm.id))
        if failed or blocks is None:
            return ArmChange(arm=arm.id, failed=failed or "no prompt was answered by both builds")
        baseline = PairedBlocks.of(self._pairs(arm.baseline)) if arm.baseline else None
        drafts = arm.role == "speculation" and can_draft(arm.method)
        own, past = (
            [trial for trial in x.trials if trial.arm == arm.id] for x in (self.head, self.base)
        )
        return ArmChange(
            arm=arm.id,
            prompts=len(blocks.pairs),
            blocks=len(blocks.blocks),
            speed=self._timed(blocks, by_writing, per_token=1),
            prompt_speed=self._timed(blocks, by_reading, per_token=blocks.prompt_tokens),
            whole_request=self._timed(blocks, by_request, per_token=None),
            round_cost=self._round_cost(blocks, baseline) if drafts and baseline else None,
            tokens_per_round=self._counted(blocks, tokens_per_round) if drafts else None,
            acceptance_rate=self._counted(blocks, acceptance_rate) if drafts else None,
            outputs=_outputs(blocks.pairs),
            invalid=worse(own, past, {each.id: each.task for each in self.base.suite.prompts}),
        )

    def _failures(self, arm: str) -> Iterator[str]:
        for name, submission in (("base", self.base), ("head", self.head)):
            own = next((each for each in submission.arms if each.id == arm), None)
            trials = [trial for trial in submission.trials if trial.arm == arm]
            reason = own.reason if own else "not measured"
            if own is None or own.outcome == "failed":
                yield f"{name} cannot run this arm ({reason})"
            elif trials and all(trial.outcome == "failed" for trial in trials):
                yield f"{name} finished no answer ({trials[0].reason})"

    def _pairs(self, arm: str) -> tuple[PromptPairs, ...]:
        return pair(*merge_submissions(self.base, self.head, arm, arm))

    def _timed(
        self, found: PairedBlocks, clock: ByClock, *, per_token: float | None
    ) -> FigureChange | None:
        """Return the change of a timed quantity: in tokens/s, or in ms for a whole request."""
        changed = found.changed(clock)
        if changed is None or per_token == 0:
            return None
        base_ms, faster = changed
        grain_ms = 0.0 if clock is by_writing else CLIENT_GRAIN_MS
        bound = min(self.fail_below, base_ms / (base_ms + grain_ms))
        if per_token is None:
            return self._change(base_ms, -faster, bound)
        return self._change(1000 * per_token / base_ms, faster, bound)

    def _change(self, base: float, means: Logs, bound: float | None = None) -> FigureChange:
        """Return a change between builds; `head` is `base * ratio`, so that all three agree."""
        ratio, interval, direction = judge(means, self.level, bound or self.fail_below)
        return FigureChange(
            base=base, head=base * ratio, ratio=ratio, interval=interval, direction=direction
        )

    def _counted(self, found: PairedBlocks, value: Counter) -> FigureChange | None:
        """Return the change of a ratio of counters, such as tokens per round, block by block."""
        counts = found.counted(value)
        if counts is None:
            return None
        base, head = counts
        return self._change(float(np.mean(base)), np.log(head / base))

    def _round_cost(self, found: PairedBlocks, baseline: PairedBlocks) -> FigureChange | None:
        """Return the change of R, which is tokens per round over the speedup.

        Each build's speedup is relative to that build's own baseline.
        """
        counts = found.counted(tokens_per_round)
        own, alone = found.changed(by_writing), baseline.changed(by_writing)
        if counts is None or own is None or alone is None or found.blocks != baseline.blocks:
            return None
        (base, head), (own_ms, own_faster), (alone_ms, alone_faster) = counts, own, alone
        means = np.log(head / base) - own_faster + alone_faster
        return self._change(float(np.mean(base)) * own_ms / alone_ms, means)


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
