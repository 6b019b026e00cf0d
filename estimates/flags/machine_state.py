"""Flags about the state of the machine: load, stolen time, battery, heat, clocks."""

from collections.abc import Iterator, Sequence
from typing import Any

from estimates import system_load
from estimates.flags.observation import FlagEvidence, Observation, bounds
from schemas.rig import Backend
from schemas.submission import Gpu, Snapshot

BUSY, DROP = bounds("busy-machine"), bounds("clock-drop")


def busy_machine(evidence: FlagEvidence) -> Iterator[Observation]:
    """Other programs used the processor at the start or only later, or virtual machines did."""
    submission, snapshots = evidence.submission, evidence.submission.environment or ()
    stolen = max((each.steal_fraction or 0.0 for each in snapshots), default=0.0)
    if stolen > BUSY["stolen"]:
        yield _under_load(evidence, case="stolen", stolen=stolen)
    cores = submission.machine.cpu.logical_cores or 1
    before = [each for each in snapshots if each.moment == "before"]
    busy = max((system_load.in_use(each, cores) for each in before), default=0.0)
    pressure = max((each.cpu_pressure or 0.0 for each in before), default=0.0)
    if busy > BUSY["load"] or pressure > BUSY["pressure"]:
        yield _under_load(evidence, case="before")
        return
    # The campaign's threads count as load, too; if their number is unknown, the campaign may have
    # used every core.
    own = min(submission.settings.threads or cores, cores)
    busy = max((each.load_1min or 0.0 for each in _later(evidence)), default=0.0)
    if (busy - own) / cores > BUSY["load"]:
        yield _under_load(evidence, case="later", busy=busy, own=own)


def _under_load(evidence: FlagEvidence, **values: Any) -> Observation:  # noqa: ANN401 - as a flag's
    """An observation about load, which also says how far the intervals allow for the load."""
    allowance = system_load.allowance(evidence.submission)
    severity = system_load.severity(evidence.submission)
    return Observation(severity=severity, allowance=allowance, **values)


def on_battery(evidence: FlagEvidence) -> Observation | None:
    """The machine ran on battery, which limits its power."""
    snapshots = evidence.submission.environment or ()
    states = {each.on_battery for each in snapshots if each.on_battery is not None}
    if not evidence.submission.machine.on_battery and True not in states:
        return None
    return Observation(case="changed" if len(states) > 1 else "always")


def low_power(evidence: FlagEvidence) -> Observation | None:
    """The system's power mode saved power: on a Mac, 12 instead of 30 tokens/s (MTPLX #128)."""
    return Observation() if evidence.submission.machine.power_mode == "low" else None


def clock_drop(evidence: FlagEvidence) -> Iterator[Observation]:
    """A clock was always lower in the second half of the campaign, or the GPU was throttled.

    Only readings between blocks and after the last block count, because the machine is idle before
    the first block.
    """
    later = _later(evidence)
    drops = [
        f"the {name} clock fell from {drop[0]:.0f} to {drop[1]:.0f} MHz"
        for name, drop in (
            ("CPU", _drop([each.cpu_mhz for each in later])),
            ("GPU", _drop([each.gpu_clock_mhz for each in later])),
        )
        if drop is not None
    ]
    if drops:
        yield Observation(case="readings", drops=drops)
    if any(each.gpu_throttled for each in evidence.submission.environment or ()):
        yield Observation(case="throttled")


def gpu_use_not_shown(evidence: FlagEvidence) -> Observation | None:
    """During and after the campaign, an NVIDIA GPU has no readings, or its clock is always idle.

    One driver tool reads both the card's name and its state, so a card with a name should have
    readings.
    """
    submission, later = evidence.submission, _later(evidence)
    if not needs_readings(submission.engine.backend, submission.machine.gpus) or not later:
        return None
    clocks = [each.gpu_clock_mhz for each in later if each.gpu_clock_mhz is not None]
    if clocks:
        idle_mhz = bounds("gpu-use-not-shown")["idle_mhz"]
        return Observation(case="idle", mhz=max(clocks)) if max(clocks) < idle_mhz else None
    shown = any(each.gpu_temperature_c or each.gpu_power_w for each in later)
    return None if shown else Observation(case="absent", count=len(later))


def needs_readings(backend: Backend, gpus: Sequence[Gpu]) -> bool:
    """Whether a result without a reading of a card gets no verdict: the engine used NVIDIA's."""
    return backend == "cuda" or (backend != "cpu" and {gpu.vendor for gpu in gpus} == {"nvidia"})


def power_limited(evidence: FlagEvidence) -> Observation | None:
    """A GPU's power limit is below its default."""
    limited = [
        f"{gpu.name} is limited to {gpu.power_limit_w:.0f} W of {gpu.default_power_limit_w:.0f} W"
        for gpu in evidence.submission.machine.gpus
        if gpu.power_limit_w and gpu.default_power_limit_w
        if gpu.power_limit_w < gpu.default_power_limit_w
    ]
    return Observation(gpus=limited) if limited else None


def _later(evidence: FlagEvidence) -> list[Snapshot]:
    """The snapshots taken while the campaign ran or right after it."""
    return [each for each in evidence.submission.environment or () if each.moment != "before"]


def _drop(readings: Sequence[float | None]) -> tuple[float, float] | None:
    """The first half's lowest and second half's highest reading; `None` without a clear drop."""
    known = [reading for reading in readings if reading is not None]
    if len(known) < DROP["fewest"]:
        return None
    middle = len(known) // 2
    first, second = min(known[:middle]), max(known[middle:])
    return (first, second) if second < (1 - DROP["drop"]) * first else None
