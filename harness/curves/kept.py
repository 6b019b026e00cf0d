"""Curves that `probe` measured on this machine, cached for `plan` and for resuming a probe."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from answers.machines import Computer
from harness import files
from harness.campaign.model import ALL_LAYERS, Campaign
from harness.curves.measured_curve import MeasuredCurve
from harness.machine.computer import computer_of
from harness.models.describe import cached_facts
from harness.runners.base import EngineReport, StepTimes
from harness.runners.probes import curve_of, widest
from schemas.codec import UNREADABLE
from schemas.submission import Engine, Model, Settings, VerificationProbe


class KeptCurve(msgspec.Struct, frozen=True, kw_only=True):
    """Times of single steps of a model on this machine, with every setting that affects them.

    `step_ms[i]` has one time per pass for `widths[i]`; the curve is `complete` once no pass is
    missing.
    """

    format: Literal["draftmap-curve"] = "draftmap-curve"
    version: Literal[1] = 1
    measured_on: str
    device: str
    model: Model
    engine: Engine
    settings: Settings
    gpu_layers: int
    context_tokens: int
    widths: tuple[int, ...]
    step_ms: tuple[tuple[float, ...], ...]
    complete: bool = False

    @property
    def passes(self) -> int:
        return min(map(len, self.step_ms), default=0)

    @property
    def is_whole(self) -> bool:
        """Whether every width has a time above 0 and the widths are in order."""
        widths, times = self.widths, self.step_ms
        ordered = len(times) == len(widths) and list(widths) == sorted({*widths})
        return ordered and self.passes > 0 and min(map(min, (widths, *times))) > 0

    @property
    def path(self) -> Path:
        """The curve's file in the cache: one for each model, device, engine and set of settings."""
        loaded = (self.engine, self.settings, self.gpu_layers, self.widths)
        parts = (self.model.sha256, self.device, loaded)
        digest = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]
        return _folder() / f"{digest}.json"

    def with_pass(self, times: StepTimes) -> "KeptCurve":
        """Return the curve with one more pass: one more step time for each width."""
        step_ms = tuple((*had, ms) for had, ms in zip(self.step_ms, times.ms, strict=True))
        context_tokens = times.context_tokens
        return msgspec.structs.replace(self, step_ms=step_ms, context_tokens=context_tokens)

    def measured(self, file: str) -> MeasuredCurve:
        """Return the measured curve from the passes made so far (at least one)."""
        times = dict(zip(self.widths, self.step_ms, strict=True))
        part = "" if self.complete else f"(only {self.passes} passes)"
        return MeasuredCurve(
            probe=curve_of(times, context_tokens=self.context_tokens),
            model=f"{self.model.name}-{self.model.quantisation or ''}",
            file_bytes=self.model.file_bytes,
            device="" if self.engine.backend == "cpu" else self.device,
            source=f"the probe of {self.measured_on[:10]}{part} on {self.device}",
            file=file,
        )


def keep(curve: KeptCurve) -> None:
    """Write the curve to the cache, so that a measured pass is never lost."""
    with files.usable(), files.written(curve.path) as part:
        part.write_bytes(msgspec.json.encode(curve))


def begun(curve: KeptCurve) -> KeptCurve:
    """Return the stored curve, to be continued, if it is incomplete; else the given curve."""
    known = _read(curve.path)
    return curve if known is None or known.complete else known


def kept_for(path: Path, computer: Computer) -> MeasuredCurve | None:
    """Return the newest complete curve of a model file on this machine.

    A curve is used only if the whole model was on one kind of device: the CPU or the GPUs.
    """
    size, device = path.stat().st_size, device_of(computer)
    newest = _newest(
        lambda curve: (
            (curve.device, curve.model.file_bytes) == (device, size)
            and (curve.engine.backend == "cpu") == (not computer.devices)
            and (curve.engine.backend == "cpu" or curve.gpu_layers == ALL_LAYERS)
        )
    )
    if newest is None or cached_facts(path, say=lambda _: None).sha256 != newest.model.sha256:
        return None
    return newest.measured(str(newest.path))


def known_curve(campaign: Campaign, report: EngineReport) -> VerificationProbe | None:
    """Return the newest complete curve for a campaign's weights, engine and settings, or `None`."""
    digest = campaign.target.model.sha256
    loaded = (digest, report.engine, campaign.settings.gpu_layers, device_of(computer_of()))
    newest = _newest(
        lambda curve: (
            (curve.model.sha256, curve.engine, curve.gpu_layers, curve.device) == loaded
            and digest is not None
            and _of_steps(curve.settings) == _of_steps(report.settings)
            and curve.widths[-1] >= widest(campaign)
        )
    )
    return newest.measured("").probe if newest else None


def _of_steps(settings: Settings) -> Settings:
    """Return the settings that affect a step's time, without those that only affect the text."""
    no_text = dict.fromkeys(("temperature", "sampling_seed", "draft_sampling", "thinking"))
    return replace(settings, sampling="greedy", max_output_tokens=1, **no_text)


def _newest(fits: Callable[[KeptCurve], bool]) -> KeptCurve | None:
    found = filter(None, map(_read, sorted(_folder().glob("*.json"))))
    alike = (curve for curve in found if curve.complete and curve.is_whole and fits(curve))
    return max(alike, key=lambda each: each.measured_on, default=None)


def device_of(computer: Computer) -> str:
    """Return the names of a computer's GPUs, or of its CPU if it has none."""
    return " + ".join(memory.name for memory in computer.devices) or computer.host.card


def _read(path: Path) -> KeptCurve | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=KeptCurve)
    except (OSError, *UNREADABLE):
        return None  # the file is missing, or a different version wrote it


def _folder() -> Path:
    folder = files.directory() / "curves"
    with files.usable():
        folder.mkdir(exist_ok=True)
    return folder
