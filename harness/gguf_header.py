"""What does a GGUF file say about itself? Read from its header, without loading weights."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gguf import GGUFReader, LlamaFileType

from harness.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# A model in several files: the parts' common name, the part's number and the number of parts.
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
# What llama.cpp assumes when a file does not say whether BOS is added (src/llama-vocab.cpp).
_BOS_BY_MODEL = {"llama": True, "bert": True}
_BOS_BY_PRE = {"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "tekken"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What decides whether a draft's tokens mean the same to the target."""

    kind: str
    size: int
    sha256: str
    add_bos: bool
    add_eos: bool
    bos: int | None
    eos: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The facts of a GGUF file that identify a model. Absent is `None`."""

    architecture: str
    quantisation: str
    parameters: int
    active_parameters: int
    file_bytes: int
    vocabulary: Vocabulary
    layers: int | None
    general_name: str | None
    base_name: str | None
    context_tokens: int | None
    has_chat_template: bool


def read(path: Path) -> Header:
    """The header of a GGUF file, or of a model in several. Raises `BadInputError`."""
    parts = part_paths(path)
    readers = [_open(part) for part in parts]
    first = readers[0]
    architecture = _text(first, "general.architecture")
    if architecture is None:
        message = f"{path.name} names no architecture; it is no language model in GGUF form"
        raise BadInputError(message)
    return Header(
        architecture=architecture,
        quantisation=_quantisation(first),
        parameters=sum(tensor.n_elements for reader in readers for tensor in reader.tensors),
        active_parameters=_active_parameters(readers, architecture),
        file_bytes=sum(part.stat().st_size for part in parts),
        vocabulary=_vocabulary(first, path),
        layers=_number(first, f"{architecture}.block_count"),
        general_name=_text(first, "general.name"),
        base_name=_text(first, "general.basename"),
        context_tokens=_number(first, f"{architecture}.context_length"),
        has_chat_template="tokenizer.chat_template" in first.fields,
    )


def tokens(path: Path) -> tuple[bytes, ...]:
    """The text of every token of the vocabulary, by id."""
    return _tokens(_open(path), path)


def part_paths(path: Path) -> tuple[Path, ...]:
    """The files that make up the model: all parts when `path` is one of several."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return (path,)
    stem, count = match["stem"], match["count"]
    names = [f"{stem}-{number:05d}-of-{count}.gguf" for number in range(1, int(count) + 1)]
    parts = tuple(path.with_name(name) for name in names)
    for part in parts:
        if not part.is_file():
            message = f"{part.name} is missing; all {int(count)} parts must lie side by side"
            raise BadInputError(message)
    return parts


def tokenizer_sha256(texts: Sequence[bytes]) -> str:
    """SHA-256 over the token texts in order of id, each preceded by its length (uint32, little)."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(len(text).to_bytes(4, "little"))
        digest.update(text)
    return digest.hexdigest()


def _open(path: Path) -> GGUFReader:
    if not path.is_file():
        message = f"{path} does not exist; give a GGUF file, a preset or owner/repo:quant"
        raise BadInputError(message)
    try:
        reader = GGUFReader(path)
        # Touching the last byte of the last tensor finds a file that was cut off.
        complete = all(tensor.data.nbytes == tensor.n_bytes for tensor in reader.tensors)
    except PermissionError as error:
        message = f"{path.name} may not be read; check its permissions"
        raise BadInputError(message) from error
    except (ValueError, IndexError, KeyError, OSError, OverflowError, MemoryError) as error:
        message = f"{path.name} is broken, cut off or no GGUF file ({error}); download it again"
        raise BadInputError(message) from error
    if not complete or not reader.tensors:
        message = f"{path.name} is cut off or holds no weights; download it again"
        raise BadInputError(message)
    return reader


def _text(reader: GGUFReader, key: str) -> str | None:
    field = reader.get_field(key)
    value = field.contents() if field else None
    return value.strip() or None if isinstance(value, str) else None


def _number(reader: GGUFReader, key: str) -> int | None:
    field = reader.get_field(key)
    value = field.contents() if field else None
    if isinstance(value, list):  # some architectures state one number per layer
        return max(value, default=None)
    return int(value) if isinstance(value, int) else None


def _flag(reader: GGUFReader, key: str, *, default: bool) -> bool:
    field = reader.get_field(key)
    return bool(field.contents()) if field else default


def _quantisation(reader: GGUFReader) -> str:
    """The name of the file type (`Q4_K_M`), or the type that most weights have."""
    file_type = _number(reader, "general.file_type")
    names = {int(member): member.name for member in LlamaFileType}
    name = names.get(file_type, "GUESSED") if file_type is not None else "GUESSED"
    if name != "GUESSED":
        return name.removeprefix("MOSTLY_").removeprefix("ALL_")
    weights: Counter[str] = Counter()
    for tensor in reader.tensors:
        weights[tensor.tensor_type.name] += tensor.n_elements
    return weights.most_common(1)[0][0]


def _active_parameters(readers: list[GGUFReader], architecture: str) -> int:
    """Parameters used per token: of a mixture of experts only the experts that are chosen."""
    experts = _number(readers[0], f"{architecture}.expert_count") or 1
    used = _number(readers[0], f"{architecture}.expert_used_count") or experts
    return sum(
        tensor.n_elements * used // experts if "_exps." in tensor.name else tensor.n_elements
        for reader in readers
        for tensor in reader.tensors
    )


def _tokens(reader: GGUFReader, path: Path) -> tuple[bytes, ...]:
    field = reader.get_field("tokenizer.ggml.tokens")
    if field is None:
        message = f"{path.name} has no vocabulary; it is no language model in GGUF form"
        raise BadInputError(message)
    return tuple(field.parts[index].tobytes() for index in field.data)


def _vocabulary(reader: GGUFReader, path: Path) -> Vocabulary:
    texts = _tokens(reader, path)
    kind = _text(reader, "tokenizer.ggml.model") or "none"
    pre = _text(reader, "tokenizer.ggml.pre")
    assumed_bos = _BOS_BY_MODEL.get(kind, pre in _BOS_BY_PRE)
    return Vocabulary(
        kind=kind,
        size=len(texts),
        sha256=tokenizer_sha256(texts),
        add_bos=_flag(reader, "tokenizer.ggml.add_bos_token", default=assumed_bos),
        add_eos=_flag(reader, "tokenizer.ggml.add_eos_token", default=kind == "t5"),
        bos=_number(reader, "tokenizer.ggml.bos_token_id"),
        eos=_number(reader, "tokenizer.ggml.eos_token_id"),
    )
