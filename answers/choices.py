"""A plan and its options, and the object that `--json` prints."""

from dataclasses import dataclass
from pathlib import Path

from answers.commands import loading, method_of
from answers.model import Buffers, ModelFacts
from answers.placement import LoadPlan, Projection
from answers.rounds import Speculation
from answers.speed import SpeedEstimate
from estimates.engine_commands import LLAMA_CPP, ServeLine, serve_nearest
from schemas.codec import Json
from schemas.vocabulary import HELPS_ABOVE

_NO_LIMIT_MIB = 1e8
_ABOUT_AS_FAST = 0.97
WORTH_TRYING = 1.05


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedModel:
    """A model's facts, its file if it is on this disk, and its name in a command line.

    The name is that of a file, or `-hf owner/repo:quant` where a server fetches it.
    """

    facts: ModelFacts
    path: Path | None
    server_name: str
    notes: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether a server can load it by its name: it is on this disk or on the hub."""
        return self.path is not None or self.server_name.startswith("-hf ")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOption:
    """A way to use the memory: what is loaded, where, and how fast it is."""

    changes: str
    case: LoadPlan
    found: Projection
    speculation: Speculation | None
    tps: SpeedEstimate
    target: PlannedModel
    draft: PlannedModel | None
    gain: SpeedEstimate | None = None

    @property
    def is_here(self) -> bool:
        """Whether the command names files that are on this disk or on the hub."""
        return all(each.is_here for each in (self.target, self.draft) if each is not None)

    @property
    def command(self) -> ServeLine | None:
        """The llama-server line that loads it; `None` where its files are not at hand."""
        return self.line if self.is_here else None

    @property
    def line(self) -> ServeLine | None:
        """The llama-server line that loads it, wherever its files are."""
        extra = loading(self.case.setting, self.found.placement)
        if self.draft is not None:
            extra += ["-ngld", str(self.case.draft_layers)]
        return serve_nearest(
            LLAMA_CPP,
            self.target.server_name,
            None if self.draft is None else self.draft.server_name,
            method_of(self.speculation),
            extra,
        )

    @property
    def fits(self) -> bool:
        return self.found.fits

    @property
    def promise(self) -> int:
        """How far it is known to gain: 3 measured, 2 probably, 1 perhaps, 0 not at all.

        Whether drafts from the text gain depends on how much an answer repeats its prompt.
        """
        gain, speculation = self.gain, self.speculation
        if gain is None or speculation is None or not self.fits or gain.loses:
            return 0
        if gain.low > HELPS_ABOVE and gain.basis == "nearest":
            return 3
        if gain.low > 1 and not (speculation.source == "text" and "acceptance" in gain.assumes):
            return 2
        return int(gain.estimate >= WORTH_TRYING)

    @property
    def acceptance_assumed(self) -> bool:
        """Whether its speed rests on an acceptance that nobody measured or published."""
        return "acceptance" in self.tps.assumes

    @property
    def label(self) -> str:
        """What it changes, marked where its acceptance is assumed."""
        return f"{self.changes} (acceptance assumed)" if self.acceptance_assumed else self.changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The answer. `alone` is the target without speculation in the same memory.

    What was `asked` for is the best way of drafting, or none, where the plan has `chosen` it.
    """

    target: str
    drafting: str | None
    chosen: bool
    asked: PlanOption
    alone: PlanOption
    context_max: int | None
    context_max_alone: int | None
    alternatives: tuple[PlanOption, ...]
    exact: bool
    warnings: tuple[str, ...]

    @property
    def speedup(self) -> SpeedEstimate | None:
        return self.asked.gain

    @property
    def best(self) -> PlanOption:
        """The fastest with the target's file, or what was asked where that is about as fast.

        Nothing that was measured on this device to lose, even where it writes faster.
        """
        if self.chosen and self.asked.fits:
            return self.asked
        others = [each for each in self.alternatives if each.case.target is self.asked.case.target]
        ranked = [each for each in (self.asked, self.alone, *others) if not each.tps.loses]
        fitting = [each for each in ranked if each.fits] or ranked
        fastest = max(each.tps.estimate for each in fitting)
        return next(each for each in fitting if each.tps.estimate >= fastest * _ABOUT_AS_FAST)

    def as_json(self) -> Json:
        """The plan for machines; its keys are fixed."""
        found = self.asked.found
        devices: list[Json] = [
            _place(memory.name, memory.free_mib, buffers)
            for memory, buffers in zip(self.asked.case.devices, found.devices, strict=False)
        ]
        host, command = self.asked.case.host, self.best.command
        notes = [command.note] if command and command.note else []
        best = self.best.speculation
        recommended: Json = None  # where nothing helps
        if best is not None and self.best.promise:
            draft = self.drafting if self.best.draft else None
            recommended = {"method": best.method, "depth": best.depth, "draft": draft}
        return {
            "devices": devices,
            "host": _place(host.name, host.free_mib, found.host),
            "layers": self.asked.case.target.placed_layers,
            "offloaded_layers": found.placement.layers,
            "context_max": self.context_max,
            "plain_tps": _estimate(self.alone.tps),
            "speedup": _estimate(self.speedup) if self.speedup else None,
            "recommended": recommended,
            "alternatives": [_alternative(each) for each in self.alternatives],
            "command": command.text if command else None,
            "warnings": [*self.warnings, *notes],
        }


def _place(name: str, free_mib: float, buffers: Buffers) -> Json:
    free = round(free_mib, 1) if free_mib < _NO_LIMIT_MIB else None
    kinds: dict[str, Json] = {key: round(mib, 2) for key, mib in buffers.by_kind().items()}
    return {"name": name, "free_mib": free, "buffers_mib": kinds}


def _estimate(value: SpeedEstimate) -> Json:
    return {
        "estimate": round(value.estimate, 3),
        "low": round(value.low, 3),
        "high": round(value.high, 3),
        "basis": value.basis,
    }


def _alternative(choice: PlanOption) -> Json:
    command = choice.command
    return {
        "changes": choice.label,
        "tps": round(choice.tps.estimate, 2),
        "fits": choice.fits,
        "command": command.text if command else None,
    }
