"""Decide which presets and pairs fit this machine's memory, by the planner's closed forms."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from answers.memory import place
from answers.model import LayerPlacement, Setting
from answers.presets import Pair, Preset, pairs, presets
from harness.machine.computer import own_cards
from harness.machine.detect import machine
from harness.models.gguf_file import part_paths
from harness.models.hub import default_client
from harness.models.model_facts import head_facts, preset_facts
from harness.models.resolve import preset_path
from schemas.submission import Machine

if TYPE_CHECKING:
    from harness.models.hub_client import Hub

Answer = Literal["yes", "tight", "no"]

_MIB = 1024 * 1024
_ORDER: tuple[Answer | None, ...] = ("yes", "tight", "no", None)  # `None` is unknown
_COMFORTABLE_SHARE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineMemory:
    """The memory that models are loaded into: its name and size."""

    name: str
    kind: Literal["gpu", "ram"]
    total_mib: int


def memory_of(machine: Machine) -> MachineMemory:
    """The memory of the GPUs of one vendor, which an engine uses together; else the main memory."""
    cards = own_cards(machine)
    if not cards:
        return MachineMemory(name="main memory", kind="ram", total_mib=machine.ram_mib or 0)
    name = " + ".join(card.name for card in cards)
    return MachineMemory(name=name, kind="gpu", total_mib=sum(card.vram_mib or 0 for card in cards))


def needed_bytes(
    preset: Preset, memory: MachineMemory, context_tokens: int, file_bytes: int | None = None
) -> int | None:
    """Bytes of all buffers in this memory; with the file's size where it is on disk.

    Only approximate for a head in a separate file.
    """
    facts = (head_facts if preset.head else preset_facts)(preset, file_bytes)
    if facts is None or facts.weights_error is None:
        return None
    on_gpu = memory.kind == "gpu"
    placement = LayerPlacement(layers=facts.placed_layers if on_gpu else 0)
    devices, host = place(facts, Setting(context=context_tokens), placement)
    return round((devices[0] if on_gpu else host).total() * _MIB)


def answer(needed: int | None, memory: MachineMemory) -> Answer | None:
    """Whether it fits with room to spare, barely, or not; `None` when unknown."""
    if needed is None or not memory.total_mib:
        return None
    share = needed / (memory.total_mib * _MIB)
    if share > 1:
        return "no"
    return "yes" if share <= _COMFORTABLE_SHARE else "tight"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A preset, whether it is on disk, and how much memory it needs: `None` is unknown."""

    preset: Preset
    on_disk: bool
    file_bytes: int | None
    needed_bytes: int | None
    fits: Answer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEntry:
    pair: Pair
    needed_bytes: int | None
    fits: Answer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsOverview:
    memory: MachineMemory
    context_tokens: int
    models: tuple[ModelEntry, ...]
    pairs: tuple[PairEntry, ...]


def overview(context_tokens: int) -> ModelsOverview:
    """The presets and pairs against this machine; nothing is fetched, and no file is opened."""
    return assess(memory_of(machine()), context_tokens, client=default_client())


def assess(memory: MachineMemory, context_tokens: int, *, client: "Hub") -> ModelsOverview:
    """The presets and pairs against a memory, with a context of this size."""
    models = {
        preset.name: _model(preset, memory, context_tokens, client) for preset in presets().values()
    }
    return ModelsOverview(
        memory=memory,
        context_tokens=context_tokens,
        models=tuple(sorted(models.values(), key=lambda entry: _ORDER.index(entry.fits))),
        pairs=tuple(_pair(pair, models, memory) for pair in pairs()),
    )


def _model(preset: Preset, memory: MachineMemory, context_tokens: int, client: "Hub") -> ModelEntry:
    path = preset_path(preset, client=client)
    size = sum(part.stat().st_size for part in part_paths(path)) if path else None
    needed = needed_bytes(preset, memory, context_tokens, size)
    return ModelEntry(
        preset=preset,
        on_disk=path is not None,
        file_bytes=size,
        needed_bytes=needed,
        fits=answer(needed, memory),
    )


def _pair(pair: Pair, models: dict[str, ModelEntry], memory: MachineMemory) -> PairEntry:
    sizes = [
        models[name].needed_bytes if name in models else None for name in (pair.target, pair.draft)
    ]
    needed = None if sizes[0] is None or sizes[1] is None else sizes[0] + sizes[1]
    return PairEntry(pair=pair, needed_bytes=needed, fits=answer(needed, memory))


def fitting_presets(machine: Machine, context_tokens: int) -> str:
    """A line about the presets that a machine has room for."""
    memory = memory_of(machine)
    listed = [each for each in presets().values() if each.head is None]
    sizes = {each.name: needed_bytes(each, memory, context_tokens) for each in listed}
    fitting = {name: size for name, size in sizes.items() if answer(size, memory) != "no" and size}
    room = f"{memory.total_mib / 1024:.1f} GiB of {memory.name}"
    if not fitting:
        return f"no preset fits {room}"
    largest = max(fitting, key=lambda name: fitting[name])
    return f"{len(fitting)} of {len(sizes)} presets fit {room}; the largest is {largest}"
