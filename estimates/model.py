"""Define the values derived from one submission: estimates with intervals, verdicts, flags.

The terminal report, `--json`, SQL tables and pages use these field names. Ratios are dimensionless;
a speedup above 1 means faster than the baseline.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, Self

from schemas.submission import Task
from schemas.vocabulary.flags import Severity

Verdict = Literal[
    "helps",
    "hurts",
    "no-clear-difference",
    "slower-in-all",
    "uncertain",
    "too-few-prompts",
    "never-drafted",
    "failed",
]
Exactness = Literal["identical", "diverged-near-tie", "diverged", "not-compared"]


# The version of the estimator; data files name it, so that only figures of one version are
# compared.
ESTIMATOR = "time-ratio-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    def wider(self, half_width: float) -> Self:
        """Add an independent error in quadrature, given as a half-width of the logarithm."""
        return (
            self if half_width == 0 else self._around(math.hypot(self.log_half_width, half_width))
        )

    def at_least(self, half_width: float) -> Self:
        """Widen the interval, if needed, until its logarithm has at least this half-width."""
        return self if half_width <= self.log_half_width else self._around(half_width)

    @property
    def log_half_width(self) -> float:
        """Half the distance between the logarithms of the bounds."""
        return math.log(self.high / self.low) / 2

    def _around(self, half_width: float) -> Self:
        middle = math.log(self.low * self.high) / 2
        return replace(self, low=math.exp(middle - half_width), high=math.exp(middle + half_width))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLength:
    """The answer length in tokens from which an arm saves time, with a 95 % interval.

    `high` is `None` if the arm may never save time.
    """

    tokens: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactnessCounts:
    """The numbers of prompts by how well the arm's output agrees with the baseline's."""

    identical: int
    diverged_near_tie: int
    diverged: int
    not_compared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEstimate:
    """The estimate for one arm on one prompt: both rates are medians over blocks.

    `speedup` is the ratio of the two rates. `whole_request` is the ratio for whole requests, which
    include reading the prompt. `baseline_reading_ms` and `reading_ms` are the reading times of the
    two arms; the latter includes the draft's.
    """

    arm: str
    prompt: str
    task: Task
    blocks: int
    speedup: float
    baseline_tps: float
    tps: float
    whole_request: float | None
    baseline_reading_ms: float | None
    reading_ms: float | None
    tokens_per_round: float | None
    round_cost: float | None
    acceptance_rate: float | None
    exactness: Exactness


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimate for one arm on one task, or over all tasks if `task` is `None`.

    With `own_tasks`, the estimate is over the tasks of an imported suite that lacks some of the
    fixed tasks; it is never used as the estimate over all tasks. `speedup` is `tps` over
    `baseline_tps`, each the inverse of the mean time per token over prompts and tasks
    (`estimates.intervals`). `interval` predicts other prompts of the same kind on this machine.
    `tokens_per_round` is one over the mean of rounds per token. `round_cost` is R, the cost of one
    round in plain tokens: `speedup` is `tokens_per_round` over `round_cost`. `predicted_speedup`
    follows from the probes, and `unexplained` is speedup / predicted_speedup - 1.
    `over_alternative` is the speedup over `alternative`, the target without a draft but with a
    different use of the draft's memory, if that was measured. `repeatable_within` is how far the
    logarithm of the speedup may move if the same prompts are run again. `wall_speedup` is the
    speedup by the wall clock, stalls included. `doubt` is why the verdict is `uncertain`: the name
    of a serious flag, or another key of `DOUBTS`. A serious flag is also named beside a verdict
    such as `failed`. `token_j` is the energy that the GPUs drew for whole requests, by token of the
    answers. With `at_most`, a timed-out trial counts with its time limit, so that speedup
    and rate are upper bounds.

    `whole_request` is the ratio of the measured requests, `baseline_request_ms` over `request_ms`,
    including the time to read the prompts. Their mean lengths are `mean_prompt_tokens` and
    `mean_output_tokens`; `stated_request` has answers of `STATED_ANSWER_TOKENS` to the same
    prompts. If the arm takes longer to read, it saves time for answers of at least `pays_from`
    tokens. These fields are `None` if prompt times were not recorded.
    """

    arm: str
    baseline: str
    task: Task | None
    verdict: Verdict
    prompts: int
    trials: int
    failed_trials: int
    own_tasks: bool = False
    doubt: str | None = None
    speedup: float | None = None
    interval: Interval | None = None
    wall_speedup: float | None = None
    repeatable_within: float | None = None
    baseline_tps: float | None = None
    tps: float | None = None
    tokens_per_round: float | None = None
    round_cost: float | None = None
    acceptance_rate: float | None = None
    fire_rate: float | None = None
    baseline_token_j: float | None = None
    token_j: float | None = None
    predicted_speedup: float | None = None
    unexplained: float | None = None
    exactness: ExactnessCounts | None = None
    at_most: bool = False
    whole_request: float | None = None
    whole_request_interval: Interval | None = None
    baseline_request_ms: float | None = None
    request_ms: float | None = None
    stated_request: float | None = None
    stated_request_interval: Interval | None = None
    pays_from: AnswerLength | None = None
    mean_prompt_tokens: float | None = None
    mean_output_tokens: float | None = None
    baseline_reading_ms: float | None = None
    reading_ms: float | None = None
    alternative: str | None = None
    over_alternative: float | None = None
    over_alternative_interval: Interval | None = None

    @property
    def scope(self) -> str:
        """The tasks that the figure covers, in words; a single task is named by its id."""
        return self.task or ("its own tasks" if self.own_tasks else "all tasks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatability:
    """The possible error of an arm's figure over all measured prompts, as a share of the ratio.

    A value of 0.012 is ±1.2 % at 95 %, from the differences between `blocks` full blocks; `None`
    with fewer than three blocks.
    """

    arm: str
    blocks: int
    half_width: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A control arm, whose true ratio is known: the baseline again, or an empty-draft loop."""

    arm: str
    kind: Literal["baseline-again", "empty-draft"]
    prompts: int
    ratio: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """An arm with `concurrency` requests in flight: the rates of one stream and of all streams.

    `stream_tps` is the rate of one stream, as used in the speedup. `total_tps` is one over the mean
    time per token of `passes` whole passes, from the blocks in which the baseline and all its timed
    arms finished a pass. `total_speedup` is the ratio to the baseline's `total_tps`, and `interval`
    is its t interval over blocks; these two are `None` for the baseline itself.
    """

    arm: str
    baseline: str | None
    concurrency: int
    passes: int
    stream_tps: float
    total_tps: float
    total_speedup: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A fact to know before trusting a figure. A flag never rejects a submission.

    `arm` is set if the flag concerns a single arm; `prompt` is the worst example.
    """

    name: str
    severity: Severity
    message: str
    remedy: str
    arm: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All values derived from one submission; `estimator` names the method of estimation."""

    estimator: str = ESTIMATOR
    estimates: tuple[Estimate, ...]
    prompts: tuple[PromptEstimate, ...]
    flags: tuple[Flag, ...]
    repeatability: tuple[Repeatability, ...] = ()
    controls: tuple[Control, ...] = ()
    throughput: tuple[Throughput, ...] = ()
