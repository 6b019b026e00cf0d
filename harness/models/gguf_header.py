"""Read the facts about a model from the header of its GGUF file, without loading weights."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from harness.errors import BadInputError
from harness.models.gguf_file import architecture_of, opened, part_paths, refuse_renamed_part
from harness.models.gguf_parse import GgufHeader
from schemas.submission import Model
from schemas.vocabulary.documents import document

_PREFIX = "tokenizer.ggml."
_RULES = document("tokenizers", "harness.models")
_PRE = {name: frozenset(listed) for name, listed in _RULES["pre"].items()}


class _Tokenizer(Struct, frozen=True):
    """llama.cpp's defaults for a kind of vocabulary; `type` is llama.cpp's name for that kind."""

    type: str = ""
    bos: int | None = None
    eos: int | None = None
    add_bos: bool = False
    add_eos: bool = False


TOKENIZERS = msgspec.convert(_RULES["kinds"], dict[str, _Tokenizer])


def chat_template(path: Path) -> str | None:
    """Return the chat template in a GGUF file. Raises `BadInputError` for other files."""
    return opened(path).text("tokenizer.chat_template")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The properties of a model's vocabulary that decide whether a draft is compatible."""

    kind: str
    size: int
    sha256: str
    add_bos: bool
    add_eos: bool
    bos: int | None
    eos: int | None


def read(path: Path) -> Model:
    """Return what the header of a GGUF file, or of a model in several files, says about the model.

    Without a name in the header, `name` is empty. `id` and `sha256` are not set. Raises
    `BadInputError`.
    """
    paths = part_paths(path)
    parts = [opened(part) for part in paths]
    first = parts[0]
    refuse_renamed_part(first, path)
    architecture = architecture_of(path.name, parts)
    texts = _tokens(first, path)
    return Model(
        id="",
        name=first.text("general.name") or "",
        family=first.text("general.basename"),
        architecture=architecture,
        quantisation=_quantisation(parts),
        parameters=sum(tensor.elements for part in parts for tensor in part.tensors),
        active_parameters=_active_parameters(parts, architecture),
        file_bytes=sum(path.stat().st_size for path in paths),
        layers=first.number(f"{architecture}.block_count"),
        vocabulary_size=len(texts),
        tokenizer_sha256=tokenizer_sha256(texts),
    )


def vocabulary_and_tokens(path: Path) -> tuple[Vocabulary, tuple[bytes, ...]]:
    """Return a GGUF file's vocabulary, and its token texts in order of id.

    Raises `BadInputError`.
    """
    first = opened(part_paths(path)[0])
    refuse_renamed_part(first, path)
    texts = _tokens(first, path)
    return _vocabulary(first, texts), texts


def tokenizer_sha256(texts: Sequence[bytes]) -> str:
    """Return the SHA-256 of the token texts in order of id.

    Each text is preceded by its length (little-endian uint32).
    """
    digest = hashlib.sha256()
    for token in texts:
        digest.update(len(token).to_bytes(4, "little"))
        digest.update(token)
    return digest.hexdigest()


def _quantisation(parts: list[GgufHeader]) -> str:
    """Return the name of the file type (`Q4_K_M`), or the most common type of the weights."""
    from gguf import LlamaFileType  # noqa: PLC0415 - imports numpy

    names: dict[int | None, str] = {int(member): member.name for member in LlamaFileType}
    name = names.get(parts[0].number("general.file_type"), "GUESSED")
    if name != "GUESSED":
        return name.removeprefix("MOSTLY_").removeprefix("ALL_")
    weights: Counter[str] = Counter()
    for part in parts:
        for tensor in part.tensors:
            weights[tensor.type] += tensor.elements
    return weights.most_common(1)[0][0]


def _active_parameters(parts: list[GgufHeader], architecture: str) -> int | None:
    """Return the parameters that a mixture of experts uses per token; `None` if it is all."""
    experts = parts[0].number(f"{architecture}.expert_count") or 1
    used = parts[0].number(f"{architecture}.expert_used_count") or experts
    tensors = [tensor for part in parts for tensor in part.tensors]
    unused = sum(x.elements - x.elements * used // experts for x in tensors if "_exps." in x.name)
    return sum(tensor.elements for tensor in tensors) - unused if unused else None


def _tokens(first: GgufHeader, path: Path) -> tuple[bytes, ...]:
    texts = first.texts(f"{_PREFIX}tokens")
    if not texts:
        raise BadInputError(
            f"{path.name} has no tokenizer; it cannot be compared with another model's"
        )
    return texts


def _vocabulary(first: GgufHeader, texts: Sequence[bytes]) -> Vocabulary:
    kind = first.text(f"{_PREFIX}model") or "none"
    usual = TOKENIZERS.get(kind, _Tokenizer())
    pre = (first.text(f"{_PREFIX}pre") if usual.type == "BPE" else None) or ""
    if kind == "gemma4":
        pre = "gemma4"
    adds_bos = first.flag(
        f"{_PREFIX}add_bos_token", default=usual.add_bos or pre in _PRE["add_bos"]
    )
    return Vocabulary(
        kind=kind,
        size=len(texts),
        sha256=tokenizer_sha256(texts),
        add_bos=adds_bos or pre in _PRE["always_bos"],
        add_eos=first.flag(f"{_PREFIX}add_eos_token", default=usual.add_eos),
        bos=_id(first, "bos", None if pre in _PRE["no_bos"] else usual.bos, len(texts)),
        eos=_id(first, "eos", usual.eos, len(texts)),
    )


def _id(first: GgufHeader, name: str, assumed: int | None, size: int) -> int | None:
    """Return a special token's id: the file's, else `assumed`; skip ids beyond the vocabulary."""
    for token in (first.number(f"{_PREFIX}{name}_token_id"), assumed):
        if token is not None and token < size:
            return token
    return None
