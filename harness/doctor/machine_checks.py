"""Check the machine: CPU, GPUs, disk, power and load."""

from estimates.flags.machine_state import BUSY
from estimates.system_load import in_use
from harness.doctor.check import Check
from schemas.rig import PowerMode
from schemas.submission import Machine, Snapshot
from schemas.vocabulary import say
from schemas.vocabulary.flags import FLAGS

_GIB_IN_MIB = 1024
_MIB = 1024 * 1024
_NEEDED_DISK_MIB = 1024


def processor(machine: Machine) -> Check:
    cores = f"{machine.cpu.physical_cores or '?'} cores, {machine.cpu.logical_cores} threads usable"
    return Check("Processor", "ok", f"{machine.cpu.name}, {cores}")


def gpu(machine: Machine) -> Check:
    if not machine.gpus:
        return Check("GPU", "ok", "no GPU found; the CPU will be measured")
    names = [f"{g.name}, {g.vram_mib} MiB" if g.vram_mib else g.name for g in machine.gpus]
    return Check("GPU", "ok", "; ".join(names))


def disk(free_bytes: int) -> Check:
    found = f"{free_bytes / _MIB / _GIB_IN_MIB:.1f} GiB free for models"
    if free_bytes < _NEEDED_DISK_MIB * _MIB:
        remedy = "Free 1 GiB, or set DRAFTMAP_CACHE to a directory on another disk."
        return Check("Disk", "fail", found, remedy)
    return Check("Disk", "ok", found)


def power(*, on_battery: bool | None, mode: PowerMode | None = None) -> Check:
    if mode == "low":
        return Check("Power", "warn", "low-power mode", FLAGS["low-power"].remedy)
    if on_battery:
        return Check(
            "Power",
            "warn",
            "on battery",
            "Plug the machine in: on battery, clocks are lower and vary.",
        )
    return Check("Power", "ok", "no battery in use" if on_battery is None else "mains")


def load(state: Snapshot, cores: int) -> Check:
    """Check the load by the bounds of the flag that a busy machine gets."""
    busy, pressure, stolen = in_use(state, cores), state.cpu_pressure or 0.0, state.steal_fraction
    found = f"{say.percent(busy)} of the CPU in use, {say.percent(stolen or 0.0)} stolen"
    if busy > BUSY["load"] or pressure > BUSY["pressure"] or (stolen or 0.0) > BUSY["stolen"]:
        return Check("Load", "warn", found, FLAGS["busy-machine"].remedy)
    return Check("Load", "ok", found)
