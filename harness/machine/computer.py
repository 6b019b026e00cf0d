"""Describe the kinds of memory that this computer has, for the planner."""

import re

from estimates.identity import cpu_label
from estimates.roofline import ddr_gb_per_s, normalised
from harness.errors import BadInputError
from planner.errors import QuestionError
from planner.machines import (
    OWN_MEMORY_MIB,
    Computer,
    MachineWords,
    computer_of_parts,
    described_computer,
    reported_card,
)
from planner.model import MIB, Memory
from planner.names import NamedMachine
from schemas.submission import Gpu
from schemas.submission import Machine as Rig

# Integrated graphics that are slower than the CPU on the same chip.
_NEVER_USED = re.compile(r"(u?hd\b|.*\bintegrated\b).*")
_NOTHING_SAID = MachineWords()


def computer_of(words: MachineWords = _NOTHING_SAID, said: NamedMachine | None = None) -> Computer:
    """Return the machine that `words` and the text of a question describe, else this machine.

    Raises `BadInputError`.
    """
    if not words.described and said is None:
        return _this_computer(words)
    try:
        return described_computer(words, said)
    except QuestionError as error:
        raise BadInputError(str(error)) from error


def own_cards(rig: Rig) -> tuple[Gpu, ...]:
    """Return the GPUs of one vendor that have dedicated memory; an engine uses them together.

    With GPUs of several vendors, those with the most memory in total are returned.
    """
    by_vendor: dict[str, list[Gpu]] = {}
    for gpu in rig.gpus:
        if gpu.vram_mib is not None and gpu.vram_mib >= OWN_MEMORY_MIB:
            by_vendor.setdefault(gpu.vendor or "other", []).append(gpu)
    groups = by_vendor.values()
    return tuple(max(groups, key=lambda own: sum(gpu.vram_mib or 0 for gpu in own), default=()))


def _this_computer(words: MachineWords) -> Computer:
    # Both modules are slow to import, and a described machine needs neither of them.
    import psutil  # noqa: PLC0415

    from harness.machine.detect import machine  # noqa: PLC0415

    rig = machine()
    _, processor = cpu_label(rig.cpu.name, rig.cpu.logical_cores)
    # Without such GPUs, take the first that shares main memory or whose memory is unknown. A GB10
    # lists no memory; any other NVIDIA GPU without listed memory is faulty.
    units = (x for x in rig.gpus if x.vendor != "nvidia" or _shares(x.name))
    used = (each for each in units if not _NEVER_USED.fullmatch(normalised(each.name)))
    own = own_cards(rig) or tuple(used)[:1]
    host = Memory(
        name="host",
        free_mib=psutil.virtual_memory().available / MIB,
        bandwidth_gb_per_s=rig.ram_mts and ddr_gb_per_s(rig.ram_mts, rig.ram_channels),
    )
    return computer_of_parts(
        tuple(reported_card(gpu.name, gpu.vram_mib, words) for gpu in own),
        host,
        words,
        processor=words.cpu or processor,
    )


def _shares(name: str) -> bool:
    return reported_card(name, None, _NOTHING_SAID).shares
