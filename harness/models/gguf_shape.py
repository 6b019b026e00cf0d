"""Read the facts that determine a model's memory use from the header of its GGUF file."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from harness.errors import BadInputError
from harness.models.gguf_file import architecture_of, opened, part_paths
from harness.models.gguf_parse import GgufHeader, Tensor
from planner.memory import state_bytes
from planner.model import Layer, ModelFacts

_BLOCK = re.compile(r"blk\.(\d+)\.(.+)")
_MOST_LAYERS = 4096
_LAYER_TABLE = "per_layer_token_embd.weight"  # always in host memory
# One layer in every N attends to the whole context (llama.cpp's `set_swa_pattern`).
_WINDOW_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "cohere2": 4, "exaone4": 4}


def facts_of_file(path: Path) -> ModelFacts:
    """Return what determines a model's memory use, from its file or all files of a split model.

    Raises `BadInputError`.
    """
    return facts_of(path.name, [opened(part) for part in part_paths(path)])


def facts_of(name: str, headers: Sequence[GgufHeader]) -> ModelFacts:
    """Return what determines a model's memory use, from the headers of its files."""
    architecture = architecture_of(name, headers)
    header, tensors = headers[0], [tensor for part in headers for tensor in part.tensors]
    layers = _layers(name, header, tensors)
    predicting = _number(header, "nextn_predict_layers")
    count = len(layers) - min(predicting, len(layers) - 1)
    embedding = next((x for x in tensors if x.name == "token_embd.weight"), None)
    output = next((x for x in tensors if x.name == "output.weight"), embedding)
    tables = sum(x.bytes for x in tensors if x.name == _LAYER_TABLE)
    others = sum(
        x.bytes
        for x in tensors
        if _BLOCK.match(x.name) is None
        and x.name not in ("token_embd.weight", "output.weight", _LAYER_TABLE)
    )
    return ModelFacts(
        name=header.text("general.name") or name,
        architecture=architecture,
        embedding=_number(header, "embedding_length"),
        vocabulary=max(embedding.dimensions[1:], default=0) if embedding else 0,
        layers=layers[:count],
        draft_layers=layers[count:],
        feed_forward=header.number(f"{architecture}.feed_forward_length") or None,
        heads=header.number(f"{architecture}.attention.head_count") or None,
        experts=_number(header, "expert_count"),
        experts_used=_number(header, "expert_used_count"),
        expert_feed_forward=_number(header, "expert_feed_forward_length"),
        embedding_bytes=embedding.bytes if embedding else 0,
        output_bytes=(output.bytes if output else 0) + others,
        table_bytes=tables,
        tied=output is embedding,
        context_tokens=_number(header, "context_length") or None,
    )


def _number(header: GgufHeader, key: str, default: int = 0) -> int:
    value = header.own(key)
    return value if isinstance(value, int) else default


def _at(header: GgufHeader, key: str, index: int, default: int = 0) -> int:
    """Return a field's value for one layer; the header has one value per layer or one for all."""
    value = header.own(key)
    if isinstance(value, list):
        return value[index] if index < len(value) else default
    return _number(header, key, default)


def _layers(name: str, header: GgufHeader, tensors: Sequence[Tensor]) -> tuple[Layer, ...]:
    count = _number(header, "block_count")
    if not 0 < count <= _MOST_LAYERS:
        raise BadInputError(
            f"{name}: the architecture {header.architecture!r} does not state its number of "
            "layers, so a plan is impossible"
        )
    parts: list[dict[str, int]] = [{} for _ in range(count)]
    for tensor in tensors:
        match = _BLOCK.match(tensor.name)
        if match and int(match[1]) < count:
            parts[int(match[1])][match[2]] = tensor.bytes
    return tuple(_layer(header, index, each) for index, each in enumerate(parts))


def _layer(header: GgufHeader, index: int, parts: Mapping[str, int]) -> Layer:
    experts = sum(size for name, size in parts.items() if "_exps" in name)
    states = any(name.startswith(("ssm_", "shortconv")) for name in parts)
    keys = any(name.startswith(("attn_k.", "attn_kv", "attn_k_")) for name in parts)
    attends = keys or ("attn_qkv.weight" in parts and not states)
    base = Layer(
        weight_bytes=sum(parts.values()) - experts,
        expert_bytes=experts,
        state_bytes=_state(header) if states else 0,
    )
    return _with_attention(header, index, base) if attends else base


def _with_attention(header: GgufHeader, index: int, layer: Layer) -> Layer:
    heads = _at(header, "attention.head_count", index)
    shared = _at(header, "attention.head_count_kv", index, heads)
    size = _number(header, "embedding_length") // max(1, heads)
    window = _number(header, "attention.sliding_window") or None
    window = window if window and _has_window(header, index) else None
    suffix = "_swa" if window and header.own("attention.key_length_swa") is not None else ""
    k = _number(header, f"attention.key_length{suffix}", size)
    v = _number(header, f"attention.value_length{suffix}", size)
    if header.own("attention.key_length_mla") is not None:
        return replace(layer, k_width=k, v_width=0)  # the latent row is both key and value
    return replace(layer, k_width=k * shared, v_width=v * shared, window=window)


def _has_window(header: GgufHeader, index: int) -> bool:
    pattern = header.own("attention.sliding_window_pattern")
    if isinstance(pattern, list):
        return bool(pattern[index]) if index < len(pattern) else False
    every = pattern if isinstance(pattern, int) else _WINDOW_EVERY.get(header.architecture or "", 0)
    return every > 0 and (index + 1) % every != 0


def _state(header: GgufHeader) -> int:
    cache = _number(header, "shortconv.l_cache")
    if cache:
        return (cache - 1) * _number(header, "embedding_length") * 4
    return state_bytes(
        d_conv=_number(header, "ssm.conv_kernel", 1),
        d_inner=_number(header, "ssm.inner_size"),
        d_state=_number(header, "ssm.state_size"),
        groups=_number(header, "ssm.group_count"),
    )
