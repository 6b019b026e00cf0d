"""Tells whether a model fits this machine: its weights and KV cache against the memory.

The KV cache holds, for each token of the context and each layer, the keys and the values of all KV
heads, in 16-bit floats: `n_embd_k_gqa` and `n_embd_v_gqa` per cell in llama.cpp's
src/llama-kv-cache.cpp, with the default types f16. Layers with a sliding window keep the whole
context too, unless `swa_full` is switched off. Compute buffers of some hundred MiB and the system's
own needs are not counted; the margin leaves room for them.
"""

from dataclasses import dataclass
from typing import Literal

from harness.machine.detect import machine
from harness.models.gguf_file import part_paths
from harness.models.hub import Client, default_client
from harness.models.presets import Pair, Preset, pairs, presets
from harness.models.resolve import preset_path
from schemas.submission import Machine

Answer = Literal["yes", "tight", "no"]

_MIB = 1024 * 1024
_MB = 1_000_000
_KEY_AND_VALUE = 2
_F16_BYTES = 2
_COMFORTABLE_SHARE = 0.9
# A graphics unit that lists less uses a part of main memory.
_OWN_MEMORY_MIB = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The memory that models are loaded into: its name and size."""

    name: str
    kind: Literal["gpu", "ram"]
    total_mib: int


def memory_of(machine: Machine) -> Memory:
    """The memory of the GPUs of one vendor, which an engine uses together; else the main memory."""
    cards: dict[str, list[tuple[str, int]]] = {}
    for gpu in machine.gpus:
        if gpu.vram_mib is not None and gpu.vram_mib >= _OWN_MEMORY_MIB:
            cards.setdefault(gpu.vendor or "other", []).append((gpu.name, gpu.vram_mib))
    if not cards:
        return Memory(name="main memory", kind="ram", total_mib=machine.ram_mib or 0)
    best = max(cards.values(), key=lambda listed: sum(mib for _, mib in listed))
    name = " + ".join(name for name, _ in best)
    return Memory(name=name, kind="gpu", total_mib=sum(mib for _, mib in best))


def kv_bytes(preset: Preset, context_tokens: int) -> int | None:
    """Bytes of the KV cache for a context; `None` when the model's shape is unknown."""
    if preset.layers is None or preset.kv_heads is None or preset.head_size is None:
        return None
    per_token = preset.layers * preset.kv_heads * preset.head_size * _KEY_AND_VALUE * _F16_BYTES
    return per_token * context_tokens


def needed_bytes(preset: Preset, context_tokens: int, file_bytes: int | None) -> int | None:
    """Bytes of weights and KV cache; the file's size where it is on disk, else the table's."""
    weights = file_bytes or (preset.size_mb * _MB if preset.size_mb is not None else None)
    cache = kv_bytes(preset, context_tokens)
    return None if weights is None or cache is None else weights + cache


def answer(needed: int | None, memory: Memory) -> Answer | None:
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
    """A pair, and how much memory its two models need together."""

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


def overview(context_tokens: int) -> Overview:
    """The presets and pairs against this machine; nothing is fetched, and no file is opened."""
    return assess(memory_of(machine()), context_tokens, client=default_client())


def assess(memory: Memory, context_tokens: int, *, client: Client) -> Overview:
    """The presets and pairs against a memory, with a context of this size."""
    models = {
        preset.name: _model(preset, memory, context_tokens, client) for preset in presets().values()
    }
    return Overview(
        memory=memory,
        context_tokens=context_tokens,
        models=tuple(models.values()),
        pairs=tuple(_pair(pair, models, memory) for pair in pairs()),
    )


def _model(preset: Preset, memory: Memory, context_tokens: int, client: Client) -> ModelEntry:
    path = preset_path(preset, client=client)
    size = sum(part.stat().st_size for part in part_paths(path)) if path else None
    needed = needed_bytes(preset, context_tokens, size)
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
