"""The local record: what `run`, `tune`, `probe` and `acceptance` measured on this machine.

It has counts, times, settings and digests, but no texts. It is in the cache, and no command sends
it.
"""

import hashlib
import statistics
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from estimates.decomposition import curve_of
from harness import console, files
from harness.errors import MachineError
from harness.models.describe import cached_facts
from planner.machines import Computer
from planner.rounds import Curve
from planner.speed import Ranged
from planner.ways import PlannedModel
from schemas.codec import UNREADABLE
from schemas.submission import Engine, Model, Settings, Submission
from schemas.vocabulary import say

_MOST = 50  # measurements in the record
_UNEVEN = 0.1  # passes of a quiet machine are within a few percent of each other
K = TypeVar("K", bound="KeptCurve | KeptAcceptance | Submission")


class KeptCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Times of single steps of a model on this machine, with every setting that affects them.

    `step_ms[i]` has one time per pass for `widths[i]`. `busy` means that other programs used the
    processor.
    """

    format: Literal["draftmap-curve"] = "draftmap-curve"
    version: Literal[1] = 1
    measured_until: str
    device: str
    model: Model
    engine: Engine
    settings: Settings
    gpu_layers: int
    context_tokens: int
    widths: tuple[int, ...]
    step_ms: tuple[tuple[float, ...], ...]
    busy: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether every width has a time above 0 and the widths are in order."""
        widths, times = self.widths, self.step_ms
        ordered = len(times) == len(widths) and list(widths) == sorted({*widths})
        return ordered and all(times) and bool(times) and min(map(min, (widths, *times))) > 0

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a share of the median; the widest of all."""
        quartiles = (statistics.quantiles(times, n=4) for times in self.step_ms if len(times) > 1)
        return max(((high - low) / 2 / middle for low, middle, high in quartiles), default=0.0)

    @property
    def doubt(self) -> str:
        """Why the times may be wrong; empty without a reason."""
        if self.busy:
            return "other programs kept the processor busy"
        return f"passes vary by {say.percent(self.spread)}" if self.spread > _UNEVEN else ""

    @property
    def curve(self) -> Curve:
        """The medians of the passes, and where they were measured."""
        times = dict(zip(self.widths, self.step_ms, strict=True))
        doubt = f" (doubt: {self.doubt})" if self.doubt else ""
        return Curve(
            probe=curve_of(times, context_tokens=self.context_tokens),
            source=f"the probe of {self.measured_until[:10]} on {self.device}{doubt}",
        )


class KeptAcceptance(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a round at depth 1, 2 …, counted over answers, and ms per drafted token."""

    format: Literal["draftmap-acceptance"] = "draftmap-acceptance"
    version: Literal[1] = 1
    measured_until: str
    device: str
    model: Model
    draft: Model
    answers: int
    tokens_per_round: tuple[Ranged, ...]
    drafting_ms: float


def keep(measured: KeptCurve | KeptAcceptance | Submission) -> bool:
    """Write a measurement to the record, which has the latest ones; say so if that fails."""
    data = msgspec.json.encode(measured)
    try:
        files.cache(folder() / f"{hashlib.sha256(data).hexdigest()[:16]}.json", data)
        with files.usable():
            for old in sorted(folder().glob("*.json"), key=lambda x: x.stat().st_mtime)[:-_MOST]:
                old.unlink(missing_ok=True)
    except MachineError as error:  # the figures themselves are printed or on disk
        console.say(f"Not remembered for plan: {error}")
        return False
    return True


def forget() -> int:
    """Empty the record; return how many measurements it had. Raises `MachineError`."""
    found = [*folder().glob("*.json")]
    with files.usable():
        for path in found:
            path.unlink(missing_ok=True)
    return len(found)


def recorded(kind: type[K]) -> list[K]:
    """Return the recorded measurements of a kind, the newest first."""
    found = filter(None, (_read(path, kind) for path in folder().glob("*.json")))
    return sorted(found, key=lambda each: each.measured_until, reverse=True)


def device_of(computer: Computer) -> str:
    """Return the names of a computer's GPUs, or of its CPU if it has none."""
    return " + ".join(memory.name for memory in computer.devices) or computer.host.card


def is_model(model: Model | None, planned: PlannedModel | None) -> bool:
    """Whether a planned model is the measured one: by its file, else by the names of a preset."""
    if model is None or planned is None:
        return model is None and planned is None
    preset = planned.preset
    if planned.path is not None or preset is None:
        return is_file(model, planned.path)
    return (preset.model, preset.quantisation) == (model.name, model.quantisation)


def is_file(model: Model, path: Path | None) -> bool:
    if path is None or model.sha256 is None or path.stat().st_size != model.file_bytes:
        return False
    return cached_facts(path, say=lambda _: None).sha256 == model.sha256


def folder() -> Path:
    return files.directory() / "record"


def _read(path: Path, kind: type[K]) -> K | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, *UNREADABLE):
        return None  # the file is of another kind, damaged, or of a different version
