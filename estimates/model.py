"""The values derived from one submission: estimates with intervals, verdicts, flags.

Terminal report, `--json`, SQL tables and pages use these field names. Ratios are dimensionless;
a speedup above 1 is faster than the baseline.
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
    "uncertain",
    "too-few-prompts",
    "never-drafted",
    "failed",
]
Exactness = Literal["identical", "diverged-near-tie", "diverged", "not-compared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    def wider(self, half_width: float) -> Self:
        """With one more independent source of error, whose half-width is that of a logarithm."""
        return (
            self if half_width == 0 else self._around(math.hypot(self.log_half_width, half_width))
        )

    def at_least(self, half_width: float) -> Self:
        """No narrower than this, whose half-width is that of a logarithm."""
        return self if half_width <= self.log_half_width else self._around(half_width)

    @property
    def log_half_width(self) -> float:
        """Half the distance of the logarithms of its bounds."""
        return math.log(self.high / self.low) / 2

    def _around(self, half_width: float) -> Self:
        middle = math.log(self.low * self.high) / 2
        return replace(self, low=math.exp(middle - half_width), high=math.exp(middle + half_width))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactnessCounts:
    """Prompts by how an arm's output compares with the baseline's, token by token."""

    identical: int
    diverged_near_tie: int
    diverged: int
    not_compared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEstimate:
    """One arm on one prompt: the median over blocks of the paired ratio.

    `whole_request` is the ratio of whole requests: both read the prompt (`baseline_reading_ms`,
    `reading_ms`, the draft's reading included) and write the answer.
    The rates are medians over the same blocks, each arm by itself; where the machine changed its
    speed between blocks, their ratio is not the speedup.
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
    """One arm on one task, or over all tasks when `task` is `None`.

    With `own_tasks` these are the tasks of an imported suite that lacks some of the fixed ones:
    such a figure has a name of its own and never stands for all tasks. `speedup` is the geometric
    mean of the prompt speedups (over tasks: with equal weight per task). `interval` is the t
    interval on the prompt log ratios, `bootstrap` the block bootstrap. `round_cost` is R, the cost
    of one round in units of one baseline token: an arm wins where `tokens_per_round` exceeds it.
    `energy_ratio` is the arm's joules per token over its baseline's, both known only where counters
    were read. `predicted_speedup` follows from the probes, and `unexplained` is speedup /
    predicted_speedup - 1. `over_alternative` is the speedup over `alternative`, the target alone
    with another use of the draft's memory, where one was measured. `repeatability` is the interval
    over blocks: it is about the very prompts that were run, `interval` about others like them.
    `cpu_speedup` is the ratio of processor times, known where the target ran on the CPU.
    `wall_speedup` is the same figure by the plain clock, with every stall in it. `doubt` is why the
    verdict is `uncertain`: the name of a serious flag, `few-prompts`, `single-pass`, or
    `instrument` for an arm whose acceptance was set: it has `round_cost` and no speedup. A figure
    that has no verdict anyway carries the flag, too.

    `speedup` and `verdict` are per token of the answer. `whole_request` is about the whole request,
    with prompts of `mean_prompt_tokens` and answers of `mean_output_tokens`; the four costs per
    token give it for other lengths (`estimates.requests.whole_request`).
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
    bootstrap: Interval | None = None
    repeatability: Interval | None = None
    cpu_speedup: float | None = None
    cpu_interval: Interval | None = None
    baseline_tps: float | None = None
    tps: float | None = None
    energy_per_token_j: float | None = None
    energy_ratio: float | None = None
    tokens_per_round: float | None = None
    round_cost: float | None = None
    acceptance_rate: float | None = None
    sequence_acceptance: float | None = None
    fire_rate: float | None = None
    predicted_speedup: float | None = None
    unexplained: float | None = None
    exactness: ExactnessCounts | None = None
    whole_request: float | None = None
    whole_request_interval: Interval | None = None
    mean_prompt_tokens: float | None = None
    mean_output_tokens: float | None = None
    baseline_prompt_token_ms: float | None = None
    prompt_token_ms: float | None = None
    baseline_token_ms: float | None = None
    token_ms: float | None = None
    alternative: str | None = None
    over_alternative: float | None = None
    over_alternative_interval: Interval | None = None

    @property
    def scope(self) -> str:
        """What the figure is over, in words; a task is named by its id."""
        return self.task or ("its own tasks" if self.own_tasks else "all tasks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatability:
    """How far an arm's figure over all measured prompts may be off, as a share of the ratio.

    0.012 means ±1.2 % at 95 %, from the differences between `blocks` full blocks; `None` with fewer
    than three. `minutes_to_halve` is the measuring time that would halve it.
    """

    arm: str
    blocks: int
    half_width: float | None = None
    minutes_to_halve: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """An arm whose true answer is known, over all prompts that it shares with the baseline.

    `kind` is the baseline again, whose ratio is 1, or the loop that drafts nothing.
    """

    arm: str
    kind: Literal["baseline-again", "empty-draft"]
    prompts: int
    ratio: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """An arm with `concurrency` requests in flight: one stream's rate, and that of all together.

    `total_tps` is the median over `passes` of output tokens per second of a whole pass.
    `total_speedup` is the geometric mean over blocks of the ratio to the baseline's pass in the
    same block, `interval` the t interval over blocks; `None` for the baseline itself.
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
    """Something that a reader should know before trusting a figure. A flag never rejects.

    `arm` is named where a single one is concerned; `prompt` is the worst example.
    """

    name: str
    severity: Severity
    message: str
    remedy: str
    arm: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Everything that is derived from one submission."""

    estimates: tuple[Estimate, ...]
    prompts: tuple[PromptEstimate, ...]
    flags: tuple[Flag, ...]
    repeatability: tuple[Repeatability, ...] = ()
    controls: tuple[Control, ...] = ()
    throughput: tuple[Throughput, ...] = ()
