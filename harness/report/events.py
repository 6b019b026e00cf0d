"""The events of a running campaign, for a progress display or a test."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.campaign.model import PlannedTrial
from harness.runners.base import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialsPlanned:
    """The plan: `total` trials, of which `done` are in the work file already.

    Its total grows once if prompts are repeated because their times disagree.

    `restarts` means that a new engine is started for every arm and block.
    """

    total: int
    done: int = 0
    prompts: int = 1
    restarts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The activity that begins now, with the `name` of its model or arm.

    `warming-up` is an arm's discarded generation. `probing` measures the verification curve and the
    drafting costs.
    """

    kind: Literal["loading", "warming-up", "probing"]
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmedUp:
    """The discarded warm-up generation of an arm ended."""

    arm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Warming up ended: the device's clock, power and temperature settled, or time ran out."""

    steady: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFailed:
    """An arm cannot run, so its trials are skipped; all other arms continue."""

    arm: str
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStarted:
    trial: PlannedTrial


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialEnded:
    """A trial of the plan ended, perhaps with a failure.

    `again_s` is the part of the trial's time that recurs in every further block.
    """

    trial: PlannedTrial
    again_s: float | None = None
    failure: Failure | None = None


Event = TrialsPlanned | Stage | WarmedUp | Settled | ArmFailed | TrialStarted | TrialEnded

Observer = Callable[[Event], None]
