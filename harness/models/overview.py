"""What do all presets and pairs mean on this machine: what is here, and what fits?"""

from __future__ import annotations

from dataclasses import dataclass

from harness.detect.machine import machine
from harness.gguf_file import part_paths
from harness.model import RunSettings
from harness.models.fit import Answer, Memory, answer, memory_of, needed_bytes
from harness.models.hub_client import HuggingFace
from harness.models.located import preset_path
from harness.models.presets import Pair, Preset, pairs, presets

# The context that a campaign has unless --context says otherwise.
CONTEXT_TOKENS = RunSettings(max_output_tokens=1).context_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A preset, whether it is here, and what it takes: `None` is unknown."""

    preset: Preset
    on_disk: bool
    file_bytes: int | None
    needed_bytes: int | None
    fits: Answer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEntry:
    """A pair, and what its two models take together."""

    pair: Pair
    needed_bytes: int | None
    fits: Answer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All presets and pairs, seen from one machine."""

    memory: Memory
    context_tokens: int
    models: tuple[ModelEntry, ...]
    pairs: tuple[PairEntry, ...]


def overview() -> Overview:
    """Everything that `models` shows; nothing is fetched, and no file is opened."""
    return assess(memory_of(machine()), client=HuggingFace())


def assess(memory: Memory, *, client: HuggingFace) -> Overview:
    """The presets and pairs against a memory."""
    models = {preset.name: _model(preset, memory, client) for preset in presets().values()}
    return Overview(
        memory=memory,
        context_tokens=CONTEXT_TOKENS,
        models=tuple(models.values()),
        pairs=tuple(_pair(pair, models, memory) for pair in pairs()),
    )


def _model(preset: Preset, memory: Memory, client: HuggingFace) -> ModelEntry:
    path = preset_path(preset, client=client)
    size = sum(part.stat().st_size for part in part_paths(path)) if path else None
    needed = needed_bytes(preset, CONTEXT_TOKENS, size)
    return ModelEntry(
        preset=preset,
        on_disk=path is not None,
        file_bytes=size,
        needed_bytes=needed,
        fits=answer(needed, memory),
    )


def _pair(pair: Pair, models: dict[str, ModelEntry], memory: Memory) -> PairEntry:
    sizes = [
        models[name].needed_bytes if name in models else None for name in (pair.target, pair.draft)
    ]
    needed = None if sizes[0] is None or sizes[1] is None else sizes[0] + sizes[1]
    return PairEntry(pair=pair, needed_bytes=needed, fits=answer(needed, memory))
