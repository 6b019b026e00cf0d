"""Flags about the state of the machine: load, stolen time, battery, heat, clocks."""

from collections.abc import Sequence

from estimates import load
from estimates.flags.evidence import Evidence
from estimates.model import Flag
from schemas.submission import Snapshot
from schemas.vocabulary import say

STOLEN = 0.05
BUSY_LOAD_PER_CORE = 0.5
BUSY_PRESSURE = 0.2
CLOCK_DROP = 0.10
# Half of the readings must lie on either side, and one reading is not a half.
LEAST_READINGS = 3
# Most cards slow themselves down between 83 and 93 degrees.
HOT_C = 85.0


def stolen_time(evidence: Evidence) -> Flag | None:
    """The hypervisor gave the processor to others."""
    snapshots = evidence.submission.environment or ()
    stolen = max((each.steal_fraction or 0.0 for each in snapshots), default=0.0)
    if stolen > STOLEN:
        return Flag(
            name="stolen-time",
            severity=load.severity(evidence.submission),
            message=f"The hypervisor took {say.percent(stolen)} of the processor time for others."
            + load.allowance(evidence.submission),
            remedy="Measure on a machine of your own, or at a quieter hour, with more blocks.",
        )
    return None


def busy_machine(evidence: Evidence) -> Flag | None:
    """Other programs used the processor when the campaign started."""
    cores = evidence.submission.machine.cpu.logical_cores or 1
    before = [each for each in evidence.submission.environment or () if each.moment == "before"]
    busy = max((load.in_use(each, cores) for each in before), default=0.0)
    pressure = max((each.cpu_pressure or 0.0 for each in before), default=0.0)
    if busy > BUSY_LOAD_PER_CORE or pressure > BUSY_PRESSURE:
        return Flag(
            name="busy-machine",
            severity=load.severity(evidence.submission),
            message="Other programs kept the processor busy when the campaign began."
            + load.allowance(evidence.submission),
            remedy="Close them, wait a minute, and measure again.",
        )
    return None


def load_appeared(evidence: Evidence) -> Flag | None:
    """Other programs used the processor later, on a machine that was quiet at the start."""
    if busy_machine(evidence) is not None:
        return None
    cores = evidence.submission.machine.cpu.logical_cores or 1
    # The campaign's own threads count as load too; unknown, it may have used every core.
    own = min(evidence.submission.settings.threads or cores, cores)
    busy = max((each.load_1min or 0.0 for each in _later(evidence)), default=0.0)
    if (busy - own) / cores > BUSY_LOAD_PER_CORE:
        return Flag(
            name="load-appeared",
            severity=load.severity(evidence.submission),
            message=f"Other programs kept the processor busy later on (load {busy:.0f}; "
            f"{own} are the campaign's own threads).{load.allowance(evidence.submission)}",
            remedy="Close them and measure again, at best with more blocks.",
        )
    return None


def on_battery(evidence: Evidence) -> Flag | None:
    """The machine ran on battery, which limits power."""
    snapshots = evidence.submission.environment or ()
    seen = {each.on_battery for each in snapshots if each.on_battery is not None}
    if not evidence.submission.machine.on_battery and True not in seen:
        return None
    changed = len(seen) > 1
    return Flag(
        name="on-battery",
        severity="caution",
        message="The machine was plugged in or unplugged during the campaign."
        if changed
        else "The machine ran on battery, which limits its power.",
        remedy="Plug it in and measure again.",
    )


def clock_drop(evidence: Evidence) -> Flag | None:
    """A clock was lower in the whole second half of the campaign than in the first.

    Only readings between blocks and after the last one count: before the first, the machine idles.
    """
    later = _later(evidence)
    drops = [
        f"the {name} clock fell from {drop[0]:.0f} to {drop[1]:.0f} MHz"
        for name, drop in (
            ("processor", _drop([each.cpu_mhz for each in later])),
            ("GPU", _drop([each.gpu_clock_mhz for each in later])),
        )
        if drop is not None
    ]
    if not drops:
        return None
    return Flag(
        name="clock-drop",
        severity="caution",
        message=f"During the campaign {say.listed(drops)}.",
        remedy="Improve the cooling, let the machine warm up first, and measure again.",
    )


def gpu_hot(evidence: Evidence) -> Flag | None:
    """The GPU came near the temperature at which it slows itself down."""
    if gpu_throttled(evidence) is not None:
        return None
    snapshots = evidence.submission.environment or ()
    hottest = max((each.gpu_temperature_c or 0.0 for each in snapshots), default=0.0)
    if hottest < HOT_C:
        return None
    return Flag(
        name="gpu-hot",
        severity="note",
        message=f"The GPU reached {hottest:.0f} degrees Celsius, near where cards slow down.",
        remedy="Improve the cooling; longer campaigns may throttle.",
    )


def gpu_throttled(evidence: Evidence) -> Flag | None:
    """The GPU lowered its clock."""
    if any(each.gpu_throttled for each in evidence.submission.environment or ()):
        return Flag(
            name="gpu-throttled",
            severity="caution",
            message="The GPU reported that it lowered its clock (heat or power).",
            remedy="Improve the cooling, or state the power limit in the notes.",
        )
    return None


def power_limited(evidence: Evidence) -> Flag | None:
    """GPUs run below the power limit that they were shipped with."""
    limited = [
        f"{gpu.name} is limited to {gpu.power_limit_w:.0f} W of {gpu.default_power_limit_w:.0f} W"
        for gpu in evidence.submission.machine.gpus
        if gpu.power_limit_w and gpu.default_power_limit_w
        if gpu.power_limit_w < gpu.default_power_limit_w
    ]
    if limited:
        return Flag(
            name="power-limited",
            severity="note",
            message=f"{say.listed(limited)}.",
            remedy="Compare it with cards of the same limit, or reset the limit.",
        )
    return None


def _later(evidence: Evidence) -> list[Snapshot]:
    """What was read while the campaign ran or right after it."""
    return [each for each in evidence.submission.environment or () if each.moment != "before"]


def _drop(readings: Sequence[float | None]) -> tuple[float, float] | None:
    """The lowest of the first half and the highest of the second, if far enough below."""
    known = [reading for reading in readings if reading is not None]
    if len(known) < LEAST_READINGS:
        return None
    middle = len(known) // 2
    first, second = min(known[:middle]), max(known[middle:])
    return (first, second) if second < (1 - CLOCK_DROP) * first else None
