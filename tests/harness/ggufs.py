"""Tiny model files with realistic headers.

Fields of real files are copied as bytes, because the library reads a vocabulary token by token into
arrays, which takes ten seconds.
"""

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter

from harness.models.gguf_file import opened
from harness.models.gguf_parse import Tensor

TOKENS = tuple(f"t{number}" for number in range(300))


def write_gguf(  # noqa: PLR0913 - a builder: each argument is one thing a test may want to vary
    path: Path,
    *,
    tokens: Sequence[str] | None = TOKENS,
    kind: str = "gpt2",
    pre: str | None = None,
    bos: int | None = 1,
    add_bos: bool | None = False,
    name: str | None = "Tiny Test 1M Instruct",
    base_name: str | None = None,
    file_type: int | None = 1,
    experts: tuple[int, int] | None = None,
    weights: bool = True,
    split: tuple[int, int] | None = None,
    template: str | None = None,
    architecture: str = "llama",
    heads: int | None = None,
) -> Path:
    """A file with two layers, 4096 plain weights and, if asked, experts with 80 in all.

    `split` is the number of this part, from 0, and how many there are.
    """
    writer = GGUFWriter(path, architecture)
    writer.add_block_count(2)
    writer.add_context_length(512)
    _add_tokenizer(writer, kind, pre, tokens)
    writer.add_eos_token_id(2)
    optional: tuple[tuple[Callable[[Any], None], Any], ...] = (
        *((writer.add_name, name), (writer.add_basename, base_name)),
        *((writer.add_file_type, file_type), (writer.add_nextn_predict_layers, heads)),
        *((writer.add_bos_token_id, bos), (writer.add_add_bos_token, add_bos)),
        (writer.add_chat_template, template),
    )
    for add, value in optional:
        if value is not None:
            add(value)
    if split is not None:
        writer.add_uint16("split.no", split[0])
        writer.add_uint16("split.count", split[1])
    if weights:
        writer.add_tensor("token_embd.weight", np.zeros((64, 64), dtype=np.float16))
    if experts is not None:
        writer.add_expert_count(experts[0])
        writer.add_expert_used_count(experts[1])
        writer.add_tensor("blk.0.ffn_up_exps.weight", np.zeros((8, 10), dtype=np.float16))
    return written(writer, path)


def _add_tokenizer(
    writer: GGUFWriter, kind: str, pre: str | None, tokens: Sequence[str] | None
) -> None:
    writer.add_tokenizer_model(kind)
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    if tokens is not None:
        writer.add_token_list(list(tokens))


def written(writer: GGUFWriter, path: Path) -> Path:
    """Write the file with all fields and tensors of the writer."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


_START = struct.Struct("<4sIQQ")  # the magic word, the version, how many tensors and fields
_ALIGNMENT = 32
_TEXT, _LIST = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def first_layers(whole: Path, path: Path, layers: int) -> Path:
    """The first layers of a model: its real vocabulary, nonsense text in a tenth of the time."""
    head, data = opened(whole), whole.read_bytes()
    kept = [each for each in head.tensors if _layer(each) < layers]
    fields = raw_fields(data)
    count = fields["llama.block_count"]
    fields["llama.block_count"] = count[:-4] + struct.pack("<I", layers)
    weights = head.end + -head.end % _ALIGNMENT
    infos, blocks, offset = [], [], 0
    for each in kept:
        infos.append(_info(each, offset))
        blocks.append(data[weights + each.offset :][: each.bytes].ljust(_padded(each.bytes), b"\0"))
        offset += len(blocks[-1])
    start = _START.pack(b"GGUF", 3, len(kept), len(fields))
    written = b"".join((start, *fields.values(), *infos))
    path.write_bytes(written.ljust(_padded(len(written)), b"\0") + b"".join(blocks))
    return path


def add_fields(path: Path, fields: dict[str, bytes]) -> Path:
    """Put fields of another file into one that lacks them."""
    end, data = opened(path).end, path.read_bytes()
    magic, version, tensors, count = _START.unpack_from(data)
    start = _START.pack(magic, version, tensors, count + len(fields))
    written = b"".join((start, *fields.values(), data[_START.size : end]))
    path.write_bytes(written.ljust(_padded(len(written)), b"\0") + data[_padded(end) :])
    return path


def raw_fields(data: bytes) -> dict[str, bytes]:
    """The fields of a file by name, each as it is written, with its name."""
    found, at = {}, _START.size
    for _ in range(_START.unpack_from(data)[3]):
        start, name_end = at, _after(data, at, _TEXT)
        at = _after(data, name_end + 4, struct.unpack_from("<I", data, name_end)[0])
        found[data[start + 8 : name_end].decode()] = data[start:at]
    return found


def _after(data: bytes, at: int, kind: int) -> int:
    """The end of the value that begins here."""
    if kind == _TEXT:
        return int(at + 8 + struct.unpack_from("<Q", data, at)[0])
    if kind != _LIST:
        return at + _SIZES[kind]
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner != _TEXT:
        return int(at + _SIZES[inner] * count)
    for _ in range(count):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
    return at


def _layer(tensor: Tensor) -> int:
    """The layer of a tensor; -1 if it belongs to none."""
    words = tensor.name.split(".")
    return int(words[1]) if words[0] == "blk" else -1


def _info(tensor: Tensor, offset: int) -> bytes:
    name, sizes = tensor.name.encode(), tensor.dimensions
    kind = GGMLQuantizationType[tensor.type]
    form = f"<Q{len(name)}sI{len(sizes)}QIQ"
    return struct.pack(form, len(name), name, len(sizes), *sizes, kind, offset)


def _padded(size: int) -> int:
    return size + -size % _ALIGNMENT
