"""Compute the bytes of each buffer of a loaded model, in closed form.

The KV cache, the recurrent state and the output buffer follow llama.cpp's `llama-kv-cache.cpp`,
`llama-memory-recurrent.cpp` and `llama-context.cpp`. The compute buffers are the largest set of
tensors that are alive at the same time in a micro-batch. Their sizes are for flash attention and
builds since June 2026, which reserve logits only for tokens whose logits are read
(`n_outputs_max`), keep the attention mask in 16 bits (ggml-org/llama.cpp#23764), and with a
quantised cache reserve an f16 copy of one layer's keys and values beside the result of flash
attention (#23907: ggml-cuda/fattn-common.cuh; Metal since #27390).
`bench/plan` checks the sizes against public logs.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from math import ceil
from typing import TypeAlias

import msgspec

from planner.model import (
    MIB,
    Buffers,
    Layer,
    LayerPlacement,
    LayerSums,
    ModelFacts,
    Setting,
    sums_of,
)

# The buffers of one model on each device and in host memory.
Placed: TypeAlias = tuple[tuple[Buffers, ...], Buffers]
_F16, _F32 = 2, 4
RUNTIME_MIB = 140  # memory that CUDA takes on a card
_PAD = 256
_ROUNDING = 1e-9  # the errors of sums of shares
# Bytes per value: the bytes of a block over its number of values (ggml-common.h).
KV_TYPE_BYTES = {
    "f32": 4.0,
    "f16": 2.0,
    "bf16": 2.0,
    "q8_0": 34 / 32,
    "q5_1": 24 / 32,
    "q5_0": 22 / 32,
    "q4_1": 20 / 32,
    "q4_0": 18 / 32,
    "iq4_nl": 18 / 32,
}
# Tensors alive at the widest point of a layer, in rows of the embedding's width: the residual, the
# normed input and the result, plus two rows for each chosen expert.
_ROWS_DENSE, _ROWS_MIXTURE, _ROWS_PREDICTION = 3, 5, 2
_GATE_UP_AND_PRODUCT = 3
_ROWS_PER_EXPERT = 2
# Before June 2026: logits and two rows for every token, or masks in 32 and 16 bits and five rows.
_ROWS_OLD_LOGITS, _ROWS_OLD_MASKS, _OLD_MASKS = 2, 5, 3


def kv_mib(layer: Layer, setting: Setting) -> float:
    """MiB for a layer's keys and values over the whole context."""
    k, v = KV_TYPE_BYTES[setting.kv_k], KV_TYPE_BYTES[setting.kv_v]
    return cells(setting, layer.window) * (layer.k_width * k + layer.v_width * v) / MIB


def cells(setting: Setting, window: int | None) -> int:
    """The KV cache's size in tokens for one layer; a layer with a sliding window keeps fewer."""
    streams = 1 if setting.unified else setting.slots
    per_stream = _padded(_padded(setting.context) / streams)
    if window is None:
        return per_stream * streams
    sequences = setting.slots if setting.unified else 1
    return min(per_stream, _padded(window * sequences + setting.ubatch)) * streams


def state_bytes(*, d_conv: int, d_inner: int, d_state: int, groups: int) -> int:
    """The bytes of one layer's recurrent state for one sequence, in 32-bit floats."""
    convolution = (d_conv - 1) * (d_inner + 2 * groups * d_state)
    return (convolution + d_state * d_inner) * _F32


class BufferSizes(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes in MiB that depend on the setting, but not on the placement.

    `caches` has one layer's cache for each kind of cache, with the cumulative count of such layers.
    `device_compute` is the compute buffer of a device, which `split` enlarges if some layers or
    experts stay in host memory. `host_compute` is the only compute buffer if the whole model is in
    host memory, and `head_compute` that of a prediction head. `inputs` are the attention masks and
    embedded tokens in host memory. Logits are read from `output`, in host memory.
    """

    sums: LayerSums
    caches: tuple[tuple[float, tuple[float, ...]], ...]
    device_compute: float
    split: float
    host_compute: float
    head_compute: float
    inputs: float
    inputs_split: float
    output: float


@lru_cache(maxsize=4096)
def sizes_of(facts: ModelFacts, setting: Setting) -> BufferSizes:
    """The sizes of a model's buffers with these settings; cached per model and setting."""
    sums = sums_of(facts)
    rows = setting.ubatch * _F32 / MIB
    row = facts.embedding * rows
    output = setting.slots * facts.vocabulary * _F32 / MIB
    masks = _mask_cells(facts, setting) * setting.ubatch * _F16 / MIB
    copies = _cache_copies(facts, setting)

    def compute(*, prediction: bool) -> float:
        if setting.before_june_2026:
            logits = (facts.vocabulary + _ROWS_OLD_LOGITS * facts.embedding) * rows
            return max(logits, _OLD_MASKS * masks + _ROWS_OLD_MASKS * row)
        widest = _widest_rows(facts, prediction=prediction) * rows
        return masks + copies + max(widest, output + 2 * row)

    device_compute = compute(prediction=False)
    return BufferSizes(
        sums=sums,
        caches=tuple((kv_mib(layer, setting), before) for layer, before in sums.caches),
        device_compute=device_compute,
        # The activations of one micro-batch are copied between the memories. For wide batches, a
        # weight matrix in host memory is, too; a quarter of the largest layer is assumed for it.
        split=row + sums.largest_bytes / 4 / MIB,
        host_compute=device_compute - copies + row,
        head_compute=compute(prediction=True),
        inputs=masks + 2 * row,
        inputs_split=masks + 3 * row,
        output=output,
    )


@lru_cache(maxsize=4096)  # machines with one card differ only in its size
def place(
    facts: ModelFacts,
    setting: Setting,
    placement: LayerPlacement,
    *,
    speculates_with_head: bool = False,
) -> Placed:
    """The buffers on each device and in host memory for a model with this placement."""
    sizes = sizes_of(facts, setting)
    in_host = facts.embedding_bytes + facts.table_bytes
    host = Buffers(model=in_host / MIB, output=sizes.output)
    devices = tuple([Buffers() for _ in placement.share])
    own, start = len(facts.layers), 0
    sequences = setting.slots * (1 + setting.rollback_states)
    for home, end in zip((host, *devices), _ends(facts, placement), strict=True):
        if start == end:
            continue
        stay = min(max(start, placement.cpu_experts), end)
        sums, head = sizes.sums, min(max(start, own), end)
        experts = sums.experts[end] - sums.experts[stay]
        home.model += (sums.dense[end] - sums.dense[start] + experts) / MIB
        host.model += (sums.experts[stay] - sums.experts[start]) / MIB
        home.recurrent = (sums.states[head] - sums.states[start]) * sequences / MIB
        for mib, before in sizes.caches:
            home.kv += mib * (before[head] - before[start])
            home.draft_kv += mib * (before[end] - before[head]) * speculates_with_head
        start = end
    last = devices[-1] if placement.layers else host
    if placement.layers or not facts.tied:
        last.model += facts.output_bytes / MIB
    split = placement.layers < facts.placed_layers or placement.cpu_experts > 0
    host.compute = sizes.inputs_split if split else sizes.inputs
    for device in devices if placement.layers else ():
        device.compute = sizes.device_compute + (sizes.split if split else 0.0)
    if placement.layers == 0:
        host.compute = sizes.host_compute
    if speculates_with_head and facts.draft_layers:
        last.draft_compute = sizes.head_compute
        host.draft_compute += sizes.inputs if placement.layers else 0.0
    return devices, host


def _ends(facts: ModelFacts, placement: LayerPlacement) -> Iterator[int]:
    """The end of each memory's range of layers: main memory's first, then each device's.

    As in llama.cpp, devices take consecutive layers by their shares.
    """
    count, sums = len(facts.all_layers), [*accumulate(placement.share, initial=0.0)]
    first = count + 1 - placement.layers
    for part in sums[:-1]:
        end = first + ceil((part / sums[-1] - _ROUNDING) * placement.layers)
        yield min(count, max(0, end))
    yield count


def _cache_copies(facts: ModelFacts, setting: Setting) -> float:
    """MiB of the f16 copies of one layer's keys and values; 0 for what the cache holds in f16.

    They are added to the widest point of a layer, which is 1 to 3 % too much in public logs.
    """
    if setting.before_june_2026:
        return 0.0
    k, v = (2 * (kind != "f16") for kind in (setting.kv_k, setting.kv_v))
    layers = (layer for layer, _ in sums_of(facts).caches)
    return (
        max((cells(setting, x.window) * (x.k_width * k + x.v_width * v) for x in layers), default=0)
        / MIB
    )


def _mask_cells(facts: ModelFacts, setting: Setting) -> int:
    """The total columns of the attention masks; full and windowed attention have one mask each."""
    streams = 1 if setting.unified else setting.slots
    return sum(cells(setting, window) // streams for window in sums_of(facts).windows)


def _widest_rows(facts: ModelFacts, *, prediction: bool) -> float:
    rows = _ROWS_PREDICTION if prediction else _ROWS_DENSE
    wide = facts.feed_forward or (0 if facts.mixture else int(3.5 * facts.embedding))
    dense = _GATE_UP_AND_PRODUCT * wide + rows * facts.embedding
    if not facts.mixture:
        return dense
    per_expert = max(
        _ROWS_PER_EXPERT * facts.embedding, _GATE_UP_AND_PRODUCT * facts.expert_feed_forward
    )
    return max(dense, facts.experts_used * per_expert + _ROWS_MIXTURE * facts.embedding)


def _padded(tokens: float) -> int:
    return int(-(-tokens // _PAD) * _PAD)
