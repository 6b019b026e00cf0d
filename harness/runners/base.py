"""What must an engine offer to be measured? Two protocols and the values that pass through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from harness.model import Campaign
    from schemas.submission import DeviceMemory, Engine, Placement, Probes, Reason, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One generation to run."""

    arm: str
    prompt: str
    max_output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One draft-and-verify cycle; for a baseline one single step.

    `width` is the number of tokens that the target's step was fed: the newest token and the draft.
    """

    drafted: int
    accepted: int
    draft_ms: float
    verify_ms: float
    round_ms: float
    cpu_ms: float

    @property
    def width(self) -> int:
        """Tokens fed to the target in this round."""
        return self.drafted + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What one finished generation was: its tokens and how long each round took.

    `margins` has one entry per output token: the logit of the token minus the runner-up's. It is
    `None` where the runner did not look (only baselines need it). `prompt_ms` is `None` when the
    state of the same prompt was reused.
    """

    tokens: tuple[int, ...]
    margins: tuple[float, ...] | None
    prompt_tokens: int
    prompt_ms: float | None
    wall_ms: float
    rounds: tuple[Round, ...]
    finish: Literal["length", "stop"]
    prompt_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an arm or a trial did not run: a reason from the format's list, and one line of detail."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedArm:
    """An arm after loading: ready, or failed with a reason."""

    id: str
    load_s: float | None = None
    placement: Placement | None = None
    argv: tuple[str, ...] | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What the engine says about itself and its arms after loading."""

    engine: Engine
    settings: Settings
    arms: tuple[LoadedArm, ...]


class Session(Protocol):
    """A loaded engine that answers requests one at a time."""

    def loaded(self) -> Loaded:
        """What was loaded and which arms are ready."""
        ...

    def generate(self, request: Request) -> Generation | Failure:
        """Run one generation. A failure is a value; only a bug raises."""
        ...

    def probe(self) -> Probes:
        """Measure the verification curve and the cost of a drafted token."""
        ...

    def peak_memory(self) -> tuple[DeviceMemory, ...]:
        """The highest memory in use so far, per device."""
        ...

    def close(self) -> None:
        """Free everything; the session must not be used afterwards."""
        ...


class Runner(Protocol):
    """A way to reach an engine."""

    def open(self, campaign: Campaign) -> Session:
        """Load target and arms. Raises `HarnessError` when not even the target can be loaded."""
        ...
