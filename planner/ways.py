"""The models that a plan loads, and the ways to draft with them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from planner.model import ModelFacts
from planner.placement import LoadPlan
from planner.presets import Preset
from planner.shapes import ShapeRow
from planner.speed import Ranged, SpeedEstimate
from schemas.rig import LLAMA_CPP

DEPTHS = range(1, 9)  # the draft depth of a draft model or a head
# The source of proposed tokens: a second model, the target's own layers, a file of such layers, the
# text.
DraftSource = Literal["model", "own-head", "other-head", "text"]


class PlannedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model's shape and sizes, its path if it is on this disk, and its name in a command line.

    The name in the command line is a file, or `-hf owner/repo:quant` for a model that the server
    downloads. `preset` and `shape` are the model's rows in the tables, if they have the model.
    `engine` is the id of the engine that loads it.
    """

    facts: ModelFacts
    path: Path | None
    server_name: str
    notes: tuple[str, ...] = ()
    preset: Preset | None = None
    shape: ShapeRow | None = None
    engine: str = LLAMA_CPP

    @property
    def is_here(self) -> bool:
        """Whether a server can load the model by its name, from this disk or from the hub."""
        of_other = self.engine != LLAMA_CPP and "/" in self.server_name
        return self.path is not None or of_other or self.server_name.startswith("-hf ")


class OwnRounds(msgspec.Struct, frozen=True, kw_only=True):
    """The asker's own acceptance: the tokens of a round, by the depths at which they are known.

    `basis` says where they come from. `drafting_ms` is the time to draft a token, if the tokens
    were counted on this machine.
    """

    tokens: Mapping[int, Ranged]
    basis: str = ""
    drafting_ms: float | None = None

    @classmethod
    def stated(cls, tokens: Mapping[int, float], basis: str = "") -> "OwnRounds":
        """Tokens of a round that are given without an interval."""
        exact = {n: Ranged(estimate=each, low=each, high=each) for n, each in tokens.items()}
        return cls(tokens=exact, basis=basis)


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A way to draft: its source, its method, its draft model if it has one, and its depths.

    `name` is the name of the draft model in a command. `accepted` is the asker's own
    acceptance, if it is known. `measured` has the speedups by depth that were
    measured on the machine, and `basis` says what was measured and when.
    """

    source: DraftSource
    method: str
    draft: PlannedModel | None = None
    name: str = ""
    depths: tuple[int, ...] = tuple(DEPTHS)
    accepted: OwnRounds | None = None
    measured: Mapping[int, SpeedEstimate] = {}
    basis: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """A key for a way to draft: its method and the name of its draft model."""
        return self.method, self.name

    @property
    def label(self) -> str:
        """The draft source, in a few words."""
        if self.source == "text":
            return f"drafting from text that repeats the prompt ({self.method})"
        if self.source == "own-head":
            return "its own head (MTP)"
        if self.source == "model" and self.name:
            return f"the draft {self.name}"
        return f"{self.method} ({self.name})" if self.name else self.method

    def load(self, alone: LoadPlan, depth: int) -> LoadPlan:
        """The models to load for this way of drafting at a depth."""
        load = alone.without_speculation()
        if self.draft is not None:
            load = replace(load, draft=self.draft.facts)
        if self.source == "own-head":
            load = replace(load, uses_head=True)
        # llama.cpp keeps copies of the recurrent state, to undo rejected tokens of heads.
        if alone.target.recurrent and self.source in ("own-head", "other-head"):
            load = replace(load, setting=replace(load.setting, rollback_states=depth))
        return load
