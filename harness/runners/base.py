"""The interface to an engine that is measured: its session, and the values it takes and returns."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Literal, ParamSpec, Protocol, Self, TypeVar, runtime_checkable

from harness.campaign.model import Campaign
from harness.models.model_file import ServedModels
from schemas.submission import DeviceMemory, Engine, Measured, Placement, Probes, Reason, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRequest:
    """One generation to run: an arm of the campaign on a prompt of its suite, in a block.

    A runner whose engine caches earlier answers starts a new engine for every block.
    """

    arm: str
    prompt: str
    max_output_tokens: int
    block: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One draft-and-verify cycle; for a baseline, a single step.

    The target's step processes `drafted + 1` tokens: the newest token and the draft.
    """

    drafted: int
    accepted: int
    draft_ms: float
    verify_ms: float
    round_ms: float
    cpu_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals that a server reports for a generation's rounds.

    `None` means unknown, never zero. `decode_ms` runs from the first token to the last. The two
    `metrics_` counts are set if the server's metrics page disagrees with its answer: both counts
    are recorded, since we cannot tell which count is right.
    """

    decode_ms: float
    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    drafted_histogram: tuple[int, ...] | None = None
    metrics_drafted: int | None = None
    metrics_accepted: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation(Measured):
    """One finished generation: its tokens, its measurements, and its rounds.

    `tokens` are `None` if a server reports only their number, as `counted_tokens`. If a server
    reports both, the count is authoritative, and `tokens` may lack the last tokens. `margins` has
    one entry per output token: the logit of the token minus the runner-up's. `margins` is `None` if
    it was not read (only baselines need margins). `rounds` are single rounds if the runner observes
    them, else the totals that a server reports. `prompt_ms` is `None` if the state of the same
    prompt was reused. `draft_prompt_ms`, the draft model's time for the prompt, is also `None` if
    there is no draft model or the time is unknown. `ttft_ms`, the time to the first token, is
    `None` unless the whole prompt was processed. `prompt_ids`, the token ids of the rendered
    prompt, `prompt_sha256`, their digest, and `text` are `None` if unknown.
    """

    tokens: tuple[int, ...] | None
    margins: tuple[float, ...] | None
    prompt_tokens: int
    prompt_sha256: str | None
    prompt_ms: float | None
    wall_ms: float
    rounds: tuple[Round, ...] | Totals
    finish: Literal["length", "stop"]
    counted_tokens: int | None = None
    text: str | None = None
    prompt_ids: tuple[int, ...] | None = None

    @property
    def output_tokens(self) -> int:
        """The number of output tokens. Raises `ValueError` if neither ids nor a count is known."""
        if self.counted_tokens is not None:
            return self.counted_tokens
        if self.tokens is None:
            raise ValueError("a generation without token ids must state its number of tokens")
        return len(self.tokens)

    @property
    def whole(self) -> tuple[int, ...] | None:
        """The ids of all output tokens; `None` if any id is unknown."""
        known = self.tokens is not None and len(self.tokens) == self.output_tokens
        return self.tokens if known else None

    @property
    def decode_ms(self) -> float:
        """Milliseconds from the first token to the last."""
        if isinstance(self.rounds, Totals):
            return self.rounds.decode_ms
        return sum(item.round_ms for item in self.rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an arm or a trial did not run: a reason from the file format, and a line of detail.

    `waited_ms`: the time after which a request was given up as too slow.
    """

    reason: Reason
    detail: str
    waited_ms: float | None = None

    def given_up_after(self, limit_s: float) -> Self:
        """Return the failure, adding the request's time limit if that limit ended the request."""
        return replace(self, waited_ms=1000 * limit_s) if self.reason == "timed-out" else self


class FailedError(Exception):
    """An arm or a trial did not run: inside a runner, the error that carries the failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


P = ParamSpec("P")
T = TypeVar("T")


def returns_failure(method: Callable[P, T]) -> Callable[P, T | Failure]:
    """Have a session's method return the failure of a `FailedError` instead of raising it."""

    @wraps(method)
    def returning(*arguments: P.args, **named: P.kwargs) -> T | Failure:
        try:
            return method(*arguments, **named)
        except FailedError as error:
            return error.failure

    return returning


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineReport:
    """The engine's description of itself, and the settings that the engine actually uses."""

    engine: Engine
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedArm:
    """A loaded arm that has answered one discarded prompt.

    `load_s` is `None` if the engine was already running.
    """

    load_s: float | None
    warm_up: Generation
    placement: Placement | None = None
    peak_memory: tuple[DeviceMemory, ...] | None = None
    argv: tuple[str, ...] | None = None


class Session(Protocol):
    """A loaded target that answers one request at a time.

    Failures are returned as values; an exception means a bug or the death of the engine's process.
    """

    def report(self) -> EngineReport:
        """The loaded engine and its settings."""

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """Load the arm's models and warm up with the arm's own settings."""

    def generate(self, request: TrialRequest) -> Generation | Failure:
        """Run one generation of a prepared arm."""

    def probe(self) -> Probes | None:
        """Measure the cost of a drafted token, if possible, after all arms are prepared."""

    def close(self) -> None:
        """Free everything; the session must not be used afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRequest:
    """A finished request that was in flight together with others.

    `started_ms` counts from the beginning of the arm's pass over the prompts of the block.
    """

    request: TrialRequest
    started_ms: float
    result: Generation | Failure


@runtime_checkable
class ConcurrentSession(Session, Protocol):
    """A session whose engine answers several requests at once."""

    def generate_concurrently(
        self, requests: Sequence[TrialRequest], concurrency: int
    ) -> Iterator[FinishedRequest]:
        """Run generations of one arm in one block, and yield each as soon as it ends.

        At most `concurrency` requests are in flight; the next request starts when a request ends.
        """


@runtime_checkable
class Resting(Protocol):
    """A session that can free its engine between two blocks."""

    def rest(self) -> None:
        """Free the engine, so that another engine can use the machine until the next request."""


@runtime_checkable
class ByClientClock(Resting, Protocol):
    """A session that times answers by the arrival of their chunks."""

    def compares_requests(self) -> bool:
        """Whether decode times need confirmation by the times of whole requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTimes:
    """The time of one step of each width, in milliseconds, after `context_tokens` tokens."""

    context_tokens: int
    ms: tuple[float, ...]


@runtime_checkable
class Stepped(Session, Protocol):
    """A session that can time single steps of the target."""

    def step_times(self, widths: Sequence[int]) -> StepTimes:
        """Time a step of each width after a prompt.

        Raises `HarnessError` if steps cannot be timed.
        """


# Loads the target of a campaign. Raises `HarnessError` if the target cannot be loaded.
Runner = Callable[[Campaign], Session]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """An engine as Draftmap's commands use it. `open` is the engine's runner.

    `identity` distinguishes two engines of the same runner if the options do not. `commands`
    returns the command lines that start the engine, one for each arm, and raises `BadInputError`
    for a campaign that the engine cannot run. `served` returns the models that exist only in a
    server; its argument prints progress. `seen` returns what the engine shows before it loads a
    model: its name, backend and devices.
    """

    open: Runner
    identity: Callable[[], str | None] = lambda: None
    commands: Callable[[Campaign], tuple[str, ...]] = lambda _campaign: ()
    served: Callable[[Callable[[str], None]], ServedModels | None] = lambda _say: None
    seen: Callable[[Campaign], Engine | None] = lambda _campaign: None
