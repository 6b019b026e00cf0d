"""Find the presets and pairs that fit this machine's memory if placed as the planner suggests."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from harness.machine.computer import computer_of
from harness.models.gguf_file import part_paths
from harness.models.local_files import LocalFile, local_files
from harness.models.resolve import preset_path
from planner.catalog import preset_facts
from planner.machines import Computer
from planner.model import MIB, ModelFacts, Setting
from planner.placement import Extent, fit, placed_whole
from planner.presets import Preset, PresetPair, pairs, presets

_ORDER: tuple[Extent | None, ...] = ("yes", "barely", "partly", "no", None)  # `None` is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineMemory:
    """The memory that models are loaded into: its name, its kind and its free size."""

    name: str
    kind: Literal["gpu", "ram"]  # dedicated memory, or part of main memory
    free_mib: float


def memory_of(computer: Computer) -> MachineMemory:
    """Return the combined memory of the GPUs, or main memory if there is no GPU."""
    cards = computer.devices
    if not cards:
        return MachineMemory(name="main memory", kind="ram", free_mib=computer.host.free_mib)
    return MachineMemory(
        name=" + ".join(card.name for card in cards),
        kind="ram" if computer.unified else "gpu",
        free_mib=sum(card.free_mib for card in cards),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The bytes that target and draft need, all on the GPUs or in main memory, and what fits."""

    needed_bytes: int | None = None
    fits: Extent | None = None


def need_of(
    computer: Computer,
    context_tokens: int,
    facts: ModelFacts | None,
    draft: ModelFacts | None = None,
) -> Need:
    """Return the memory that a target and its draft need on a computer; empty if unknown."""
    if facts is None:
        return Need()
    case = computer.load(facts, Setting(context=context_tokens), draft)
    whole = placed_whole(case)
    places = whole.devices if computer.devices else (whole.host,)
    needed = sum(place.total() for place in places)
    return Need(needed_bytes=round(needed * MIB), fits=fit(case).extent)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry(Need):
    """A preset, whether it is on disk, and its memory use; `None` means unknown."""

    preset: Preset
    on_disk: bool
    file_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEntry(Need):
    pair: PresetPair


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsOverview:
    memory: MachineMemory
    context_tokens: int
    models: tuple[ModelEntry, ...]
    pairs: tuple[PairEntry, ...]
    files: tuple[LocalFile, ...] = ()


def overview(context_tokens: int) -> ModelsOverview:
    """Assess the presets and pairs for this machine, without fetching or opening a model."""
    return replace(assess(computer_of(), context_tokens), files=local_files(Path.home()))


def assess(computer: Computer, context_tokens: int) -> ModelsOverview:
    """Assess the presets and pairs for a computer, with a given context size."""
    paths = {preset.name: preset_path(preset) for preset in presets().values()}
    sizes = {
        name: sum(part.stat().st_size for part in part_paths(path)) if path else None
        for name, path in paths.items()
    }
    facts = {name: facts_about(presets()[name], size) for name, size in sizes.items()}
    models = [
        ModelEntry(
            preset=presets()[name],
            on_disk=size is not None,
            file_bytes=size,
            **asdict(need_of(computer, context_tokens, facts[name])),
        )
        for name, size in sizes.items()
    ]
    found = []
    for pair in pairs():
        target, draft = facts.get(pair.target), facts.get(pair.draft)
        need = need_of(computer, context_tokens, target, draft) if draft else Need()
        found.append(PairEntry(pair=pair, **asdict(need)))
    return ModelsOverview(
        memory=memory_of(computer),
        context_tokens=context_tokens,
        models=tuple(sorted(models, key=lambda entry: _ORDER.index(entry.fits))),
        pairs=tuple(found),
    )


def facts_about(preset: Preset, file_bytes: int | None = None) -> ModelFacts | None:
    """Return facts about a preset (approximate for a draft head); `None` if its size is unknown."""
    facts = preset_facts(preset, file_bytes)
    return facts if facts is not None and facts.weights_error is not None else None


def fitting(found: ModelsOverview) -> str:
    """Return a line with the number of models that fit this machine."""
    models = [each for each in found.models if each.preset.head is None]
    whole = [each for each in models if each.fits in ("yes", "barely")]
    split = [each for each in models if each.fits == "partly"]
    room = f"{found.memory.free_mib / 1024:.1f} GiB of free memory ({found.memory.name})"
    more = f", {len(split)} more fit partly" if split else ""
    here = sum(each.on_disk for each in (*whole, *split))
    return (
        f"{len(whole)} of {len(models)} known models fit into {room}{more}; {here} are on this disk"
    )
