"""Was the machine in a state in which its figures mean what they seem to mean?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from estimates.flags.evidence import listed, percent
from estimates.model import Flag

if TYPE_CHECKING:
    from estimates.flags.evidence import Evidence

STOLEN = 0.05
BUSY_LOAD_PER_CORE = 0.5
BUSY_PRESSURE = 0.2


def stolen_time(evidence: Evidence) -> Flag | None:
    """The hypervisor gave the processor to others."""
    snapshots = evidence.submission.environment or ()
    stolen = max((each.steal_fraction or 0.0 for each in snapshots), default=0.0)
    if stolen > STOLEN:
        return Flag(
            name="stolen-time",
            severity="caution",
            message=f"The hypervisor took {percent(stolen)} of the processor time for others.",
            remedy="Measure on a machine of your own, or at a quieter hour, with more blocks.",
        )
    return None


def busy_machine(evidence: Evidence) -> Flag | None:
    """Other programs used the processor when the campaign began."""
    cores = evidence.submission.machine.cpu.logical_cores
    before = [each for each in evidence.submission.environment or () if each.moment == "before"]
    load = max((each.load_1min or 0.0 for each in before), default=0.0) / cores
    pressure = max((each.cpu_pressure or 0.0 for each in before), default=0.0)
    if load > BUSY_LOAD_PER_CORE or pressure > BUSY_PRESSURE:
        return Flag(
            name="busy-machine",
            severity="caution",
            message="Other programs kept the processor busy when the campaign began.",
            remedy="Close them, wait a minute, and measure again.",
        )
    return None


def on_battery(evidence: Evidence) -> Flag | None:
    """The machine ran on battery, which limits power."""
    snapshots = evidence.submission.environment or ()
    if evidence.submission.machine.on_battery or any(each.on_battery for each in snapshots):
        return Flag(
            name="on-battery",
            severity="caution",
            message="The machine ran on battery, which limits its power.",
            remedy="Plug it in and measure again.",
        )
    return None


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
            message=f"{listed(limited)}.",
            remedy="Compare it with cards of the same limit, or reset the limit.",
        )
    return None
