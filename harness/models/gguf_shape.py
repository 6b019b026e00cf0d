"""Reads a model's shape and the bytes of its tensors from the first megabytes of a GGUF file.

Unlike `gguf_header` it needs only the beginning of a file, so that a file on the hub can be planned
by range requests, and it skips the vocabulary, which takes a library seconds to read.
"""

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

from estimates.plan.memory import state_bytes
from estimates.plan.model import Facts, Layer
from harness.errors import BadInputError
from harness.models.gguf_file import check_start, part_paths

ReadRange = Callable[[int, int], bytes]
Value = int | float | bool | str | list[int]

_FIRST_BYTES = 4 * 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
_GROWTH = 4
_VERSIONS = (2, 3)
_STRING, _ARRAY, _BOOL = 8, 9, 7
_FORMATS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_LONGEST_KEPT_ARRAY = 4096
_LONGEST_NAME = 1 << 16
_BLOCK = re.compile(r"blk\.(\d+)\.(.+)")
_MOST_LAYERS = 4096
# Every so many layers one attends to the whole context (llama.cpp's `set_swa_pattern`).
_WINDOW_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "cohere2": 4, "exaone4": 4}


class _CutOffError(Exception):
    """The bytes at hand end before the header does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor's name, shape and size."""

    name: str
    dimensions: tuple[int, ...]
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The header of one file: its fields, its tensors, and where the header ends."""

    fields: Mapping[str, Value]
    tensors: tuple[Tensor, ...]
    end: int


def facts_of_file(path: Path) -> Facts:
    """The facts in a file on this disk, or in one of several parts. Raises `BadInputError`."""
    beginnings = []
    for part in part_paths(path):
        check_start(part)
        beginnings.append(beginning(part.name, _reader_of(part)))
    return facts_of(path.name, beginnings)


def beginning(name: str, read: ReadRange) -> Beginning:
    """The header behind `read(start, length)`; it is asked for more until the header is whole."""
    data = b""
    while len(data) < _MOST_BYTES:
        more = read(len(data), max(_FIRST_BYTES, len(data) * (_GROWTH - 1)))
        data += more
        try:
            return _parsed(name, data)
        except _CutOffError:
            if not more:
                break
        except (ValueError, struct.error, KeyError, UnicodeDecodeError) as error:
            message = f"{name} has a broken header ({error}); download it again"
            raise BadInputError(message) from error
    message = f"{name} is cut off or broken: its header does not end; download it again"
    raise BadInputError(message)


def facts_of(name: str, beginnings: Sequence[Beginning]) -> Facts:
    """What the header of a model, in one file or several, says about its memory."""
    fields = beginnings[0].fields
    architecture = fields.get("general.architecture")
    if not isinstance(architecture, str):
        message = f"{name} names no architecture; it is not a language model in GGUF form"
        raise BadInputError(message)
    tensors = [tensor for each in beginnings for tensor in each.tensors]
    if not tensors:
        message = f"{name} holds no weights; it is only a vocabulary"
        raise BadInputError(message)
    header = _Header(architecture, fields)
    layers = _layers(name, header, tensors)
    predicting = header.number("nextn_predict_layers")
    own = len(layers) - min(predicting, len(layers) - 1)
    embedding = next((x for x in tensors if x.name == "token_embd.weight"), None)
    output = next((x for x in tensors if x.name == "output.weight"), embedding)
    others = sum(
        x.bytes
        for x in tensors
        if _BLOCK.match(x.name) is None and x.name not in ("token_embd.weight", "output.weight")
    )
    return Facts(
        name=str(fields.get("general.name") or name),
        architecture=architecture,
        embedding=header.number("embedding_length"),
        vocabulary=max(embedding.dimensions[1:], default=0) if embedding else 0,
        layers=layers[:own],
        draft_layers=layers[own:],
        feed_forward=header.most("feed_forward_length") or None,
        heads=header.most("attention.head_count") or None,
        experts=header.number("expert_count"),
        experts_used=header.number("expert_used_count"),
        expert_feed_forward=header.number("expert_feed_forward_length"),
        embedding_bytes=embedding.bytes if embedding else 0,
        output_bytes=(output.bytes if output else 0) + others,
        tied=output is embedding,
        context_tokens=header.number("context_length") or None,
    )


class _Header:
    """The fields of an architecture, by the part of their names after it."""

    def __init__(self, architecture: str, fields: Mapping[str, Value]) -> None:
        self.architecture = architecture
        self._fields = fields

    def value(self, key: str) -> Value | None:
        return self._fields.get(f"{self.architecture}.{key}")

    def number(self, key: str, default: int = 0) -> int:
        value = self.value(key)
        return value if isinstance(value, int) else default

    def most(self, key: str) -> int:
        value = self.value(key)
        return max(value, default=0) if isinstance(value, list) else self.number(key)

    def at(self, key: str, index: int, default: int = 0) -> int:
        """A value of one layer, where the header has one per layer or one for all."""
        value = self.value(key)
        if isinstance(value, list):
            return value[index] if index < len(value) else default
        return self.number(key, default)


def _layers(name: str, header: _Header, tensors: Sequence[Tensor]) -> tuple[Layer, ...]:
    count = header.number("block_count")
    if not 0 < count <= _MOST_LAYERS:
        message = (
            f"{name}: the architecture {header.architecture!r} states no number of layers; "
            "plan with --facts FILE instead"
        )
        raise BadInputError(message)
    parts: list[dict[str, int]] = [{} for _ in range(count)]
    for tensor in tensors:
        match = _BLOCK.match(tensor.name)
        if match and int(match[1]) < count:
            parts[int(match[1])][match[2]] = tensor.bytes
    return tuple(_layer(header, index, each) for index, each in enumerate(parts))


def _layer(header: _Header, index: int, parts: Mapping[str, int]) -> Layer:
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


def _with_attention(header: _Header, index: int, layer: Layer) -> Layer:
    heads = header.at("attention.head_count", index)
    shared = header.at("attention.head_count_kv", index, heads)
    size = header.number("embedding_length") // max(1, heads)
    window = header.number("attention.sliding_window") or None
    window = window if window and _has_window(header, index) else None
    suffix = "_swa" if window and header.value("attention.key_length_swa") is not None else ""
    k = header.number(f"attention.key_length{suffix}", size)
    v = header.number(f"attention.value_length{suffix}", size)
    if header.value("attention.key_length_mla") is not None:
        return replace(layer, k_width=k, v_width=0)  # one latent row is both key and value
    return replace(layer, k_width=k * shared, v_width=v * shared, window=window)


def _has_window(header: _Header, index: int) -> bool:
    pattern = header.value("attention.sliding_window_pattern")
    if isinstance(pattern, list):
        return bool(pattern[index]) if index < len(pattern) else False
    every = pattern if isinstance(pattern, int) else _WINDOW_EVERY.get(header.architecture, 0)
    return every > 0 and (index + 1) % every != 0


def _state(header: _Header) -> int:
    cache = header.number("shortconv.l_cache")
    if cache:
        return (cache - 1) * header.number("embedding_length") * 4
    return state_bytes(
        d_conv=header.number("ssm.conv_kernel", 1),
        d_inner=header.number("ssm.inner_size"),
        d_state=header.number("ssm.state_size"),
        groups=header.number("ssm.group_count"),
    )


def _reader_of(path: Path) -> ReadRange:
    def read(start: int, length: int) -> bytes:
        try:
            with path.open("rb") as file:
                file.seek(start)
                return file.read(length)
        except OSError as error:
            message = f"{path.name} cannot be read ({error.strerror}); check its permissions"
            raise BadInputError(message) from error

    return read


class _Cursor:
    """A position in the bytes of a header."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, format_: str) -> int | float | bool:
        size = struct.calcsize("<" + format_)
        self.require(size)
        value: int | float | bool = struct.unpack_from("<" + format_, self.data, self.position)[0]
        self.position += size
        return value

    def count(self, format_: str = "Q") -> int:
        return int(self.take(format_))

    def require(self, size: int) -> None:
        if self.position + size > len(self.data):
            raise _CutOffError

    def text(self) -> str:
        length = self.count()
        self.require(length)
        found = self.data[self.position : self.position + length].decode("utf-8", "replace")
        self.position += length
        return found

    def name(self) -> str:
        length = struct.unpack_from("<Q", self.data, self.position)[0] if self._left() else 0
        if length > _LONGEST_NAME:
            message = f"a name of {length} bytes"
            raise ValueError(message)
        return self.text()

    def _left(self) -> bool:
        return self.position + 8 <= len(self.data)


def _parsed(name: str, data: bytes) -> Beginning:
    cursor = _Cursor(data)
    cursor.require(24)
    if data[:4] != b"GGUF":
        message = f"{name} is not a GGUF file: it does not start with GGUF"
        raise BadInputError(message)
    cursor.position = 4
    version = cursor.count("I")
    if version not in _VERSIONS:
        message = f"version {version} of the format"
        raise ValueError(message)
    tensors, pairs = cursor.count(), cursor.count()
    fields: dict[str, Value] = {}
    for _ in range(pairs):
        key = cursor.name()
        value = _value(cursor, cursor.count("I"))
        if value is not None:
            fields[key] = value
    listed = tuple(_tensor(cursor) for _ in range(tensors))
    return Beginning(fields=fields, tensors=listed, end=cursor.position)


def _value(cursor: _Cursor, kind: int) -> Value | None:
    if kind == _STRING:
        return cursor.text()
    if kind != _ARRAY:
        return cursor.take(_FORMATS[kind])
    inner, length = cursor.count("I"), cursor.count()
    if inner == _STRING:
        for _ in range(length):
            size = cursor.count()
            cursor.require(size)
            cursor.position += size
        return None
    size = struct.calcsize("<" + _FORMATS[inner]) * length
    cursor.require(size)
    kept = None
    if length <= _LONGEST_KEPT_ARRAY and _FORMATS[inner] not in "fd":
        kept = [int(cursor.take(_FORMATS[inner])) for _ in range(length)]
    else:
        cursor.position += size
    return kept


def _tensor(cursor: _Cursor) -> Tensor:
    name = cursor.name()
    dimensions = tuple(cursor.count() for _ in range(min(cursor.count("I"), 8)))
    kind = GGMLQuantizationType(cursor.count("I"))
    cursor.count()
    elements = 1
    for size in dimensions:
        elements *= size
    block, size = GGML_QUANT_SIZES[kind]
    return Tensor(name=name, dimensions=dimensions, bytes=elements // block * size)
