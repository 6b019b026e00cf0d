"""Was the machine in a state in which its figures mean what they seem to mean?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from estimates.flags.evidence import percent
from estimates.model import Flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from estimates.flags.evidence import Evidence

STOLEN = 0.05
BUSY_LOAD_PER_CORE = 0.5
BUSY_PRESSURE = 0.2


def stolen_time(evidence: Evidence) -> Iterator[Flag]:
    """The hypervisor gave the processor to others."""
    snapshots = evidence.submission.environment or ()
    stolen = max((each.steal_fraction or 0.0 for each in snapshots), default=0.0)
    if stolen > STOLEN:
        yield Flag(
            name="stolen-time",
            message=f"The hypervisor took {percent(stolen)} of the processor time for others.",
            remedy="Measure on a machine of your own, or at a quieter hour, with more blocks.",
        )


def busy_machine(evidence: Evidence) -> Iterator[Flag]:
    """Other programs used the processor when the campaign began."""
    cores = evidence.submission.machine.cpu.logical_cores
    for snapshot in evidence.submission.environment or ():
        load = (snapshot.load_1min or 0.0) / cores
        busy = load > BUSY_LOAD_PER_CORE or (snapshot.cpu_pressure or 0.0) > BUSY_PRESSURE
        if snapshot.moment == "before" and busy:
            yield Flag(
                name="busy-machine",
                message="Other programs kept the processor busy when the campaign began.",
                remedy="Close them, wait a minute, and measure again.",
            )
            return


def on_battery(evidence: Evidence) -> Iterator[Flag]:
    """The machine ran on battery, which limits power."""
    snapshots = evidence.submission.environment or ()
    if evidence.submission.machine.on_battery or any(each.on_battery for each in snapshots):
        yield Flag(
            name="on-battery",
            message="The machine ran on battery, which limits its power.",
            remedy="Plug it in and measure again.",
        )


def gpu_throttled(evidence: Evidence) -> Iterator[Flag]:
    """The GPU lowered its clock."""
    if any(each.gpu_throttled for each in evidence.submission.environment or ()):
        yield Flag(
            name="gpu-throttled",
            message="The GPU reported that it lowered its clock (heat or power).",
            remedy="Improve the cooling, or state the power limit in the notes.",
        )


def power_limited(evidence: Evidence) -> Iterator[Flag]:
    """A GPU runs below the power limit that it was shipped with."""
    for gpu in evidence.submission.machine.gpus:
        if gpu.power_limit_w is None or gpu.default_power_limit_w is None:
            continue
        if gpu.power_limit_w < gpu.default_power_limit_w:
            limit, default = gpu.power_limit_w, gpu.default_power_limit_w
            yield Flag(
                name="power-limited",
                message=f"{gpu.name} is limited to {limit:.0f} W of {default:.0f} W.",
                remedy="Compare it with cards of the same limit, or reset the limit.",
            )
