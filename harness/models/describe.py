"""Describe a weights file by its header and digest."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec
import orjson

from harness import files
from harness.models import gguf_header
from harness.models.model_file import ModelFile, WeightsFile
from planner.presets import presets
from schemas.codec import UNREADABLE, slug
from schemas.submission import Model
from schemas.vocabulary import WEIGHTS

T = TypeVar("T")

# Increment this version when descriptions change, so that old cache entries are not used.
_CACHE_VERSION = 3
_HASH_IS_SLOW_BYTES = 1_000_000_000
_NAME_LENGTH = 120
_FORBIDDEN = re.compile(r"[\x00-\x1f<>]")
_SIZE_WORD = re.compile(r"[-_. ]?(?<!\d)\d{1,9}(?:\.\d{1,9})?[xX]?\d{0,9}[bBmM](?=[-_. ]|$)")
_QUANTISATION_TAIL = re.compile(r"[-_.](?:I?Q\d\w*|BF16|F16|F32)$", re.IGNORECASE)


def describe(weights: WeightsFile, *, say: Callable[[str], None]) -> ModelFile:
    """Describe a weights file with everything that a result file records about a model.

    Raises `BadInputError`.
    """
    facts = cached_facts(weights.path, say=say)
    weights = _named(weights, facts.sha256 or "")
    # The name in the header, else the file name without the quantisation.
    called = facts.name or _QUANTISATION_TAIL.sub("", weights.path.stem)
    name = weights.name or _clean(_FORBIDDEN.sub("", called).strip().replace(" ", "-"))
    pruned = "-pruned" if weights.derivation and "removed" in weights.derivation else ""
    model = replace(
        facts,
        id=f"{slug(name)}-{slug(facts.quantisation)}{pruned}",
        name=name,
        family=weights.family or _clean(facts.family or family_of(name)),
        repository=weights.repository,
        derivation=weights.derivation,
    )
    return ModelFile(path=weights.path, model=model)


def _named(weights: WeightsFile, digest: str) -> WeightsFile:
    """Name unnamed weights after the preset with the same digest, else by an earlier note.

    The name of other weights, which were just fetched or made, is noted for later.
    """
    note = files.directory() / "names" / f"{digest}.json"
    if weights.name is None and digest in WEIGHTS:
        return WeightsFile.of_preset(weights.path, presets()[WEIGHTS[digest].preset])
    if weights.name is None:
        noted = _noted(note, _Names)
        return replace(weights, **asdict(noted)) if noted else weights
    if not note.is_file():
        named = {key: value for key, value in asdict(weights).items() if key != "path"}
        files.cache(note, orjson.dumps(named))
    return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    name: str | None = None
    family: str | None = None
    repository: str | None = None
    derivation: str | None = None


def _noted(note: Path, kind: type[T]) -> T | None:
    """Return a note of the cache; `None` if it is missing or damaged, so that it is made again."""
    try:
        return msgspec.json.decode(note.read_bytes(), type=kind)
    except (OSError, *UNREADABLE):
        return None


def family_of(name: str) -> str:
    """Return the part before the size in a model's name: `Qwen3` for `Qwen3-8B`."""
    return _SIZE_WORD.split(name)[0].strip("-_. ") or name


def cached_facts(path: Path, *, say: Callable[[str], None]) -> Model:
    """Return the facts in a file's header with its digest, from the cache if they are there."""
    note = files.directory() / "known" / f"{_fingerprint(path)}.json"
    if known := _noted(note, Model):
        return known
    if path.is_file() and path.stat().st_size > _HASH_IS_SLOW_BYTES:
        say(f"Reading {path.name} to compute its digest (once per file) …")
    facts = replace(gguf_header.read(path), sha256=files.sha256_of(path))
    files.cache(note, orjson.dumps(facts))
    return facts


def _fingerprint(path: Path) -> str:
    if not path.is_file():
        return "missing"
    state = path.stat()
    parts = f"{_CACHE_VERSION}|{path.resolve()}|{state.st_size}|{state.st_mtime_ns}"
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


def _clean(name: str) -> str:
    return _FORBIDDEN.sub("", name)[:_NAME_LENGTH] or "unnamed"
