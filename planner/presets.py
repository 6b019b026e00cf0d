"""Read the named models, and the pairs of target and draft in use, from `presets.toml`."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

import msgspec
from msgspec.structs import replace

from planner.names import ModelRef, read_model
from planner.names_table import listed_slug
from planner.sized_shapes import is_head, shape_named
from schemas.method import DRAFT_MODEL
from schemas.vocabulary import METHODS
from schemas.vocabulary.documents import document, read_entry

DEFAULT_TARGET = "smollm2-135m:f16"
DEFAULT_DRAFT = "smollm2-135m:q4_1"
DEFAULT_QUANTISATION = "Q4_K_M"
# The method of a built-in prediction head.
HEAD = next(x.id for x in METHODS.values() if x.draft == "built-in" and not x.instrument)
_OWNER = re.compile(r"[\w-][\w.-]*/(?=[^/]+$)")
# The kinds of quantisation that llama.cpp's files have.
_IN_GGUF = re.compile(r"(UD-)?(I?Q\d|TQ\d|MXFP4|NVFP4|B?F16|F32)", re.IGNORECASE)
_REPOSITORY = re.compile(r"^[\w-][\w.-]*/|-GGUF(?=:|$)", re.IGNORECASE)
_TABLES = document("presets", "planner")
SizeFrom = Literal["made", "repository", "elsewhere", "computed"]


class Preset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named model: in a hub repository, or derived on this machine from the embedded weights.

    Two presets with the same `vocabulary` can draft for each other. For a file that contains a
    draft head instead of a model, `head` is the head's method, and `file` is the file's name if the
    repository also holds the model. `method` is a method that drafts without a second file. A
    `None` size or licence is unknown. `key` is the model's key in the evidence.
    """

    name: str
    model: str
    family: str
    vocabulary: str
    quantisation: str
    size_mb: int | None = None
    size_from: SizeFrom | None = None
    licence: str | None = None
    repository: str | None = None
    pruned_layers: tuple[int, ...] = ()
    head: str | None = None
    file: str | None = None
    method: str | None = None
    key: str = ""

    @property
    def reference(self) -> str:
        """The name in a request to the hub: the repository, and the file or quantisation in it."""
        return f"{self.repository}:{self.file or self.quantisation}"

    @property
    def made(self) -> bool:
        """Whether the preset's file is derived on this machine from the embedded weights."""
        return self.size_from == "made"

    @property
    def derivation(self) -> str | None:
        """The derivation from the embedded weights; `None` for a file that is not derived."""
        if not self.made or self.name == DEFAULT_DRAFT:
            return None
        if not self.pruned_layers:
            return "requantised from Q4_1"
        first, last = self.pruned_layers[0], self.pruned_layers[-1]
        return f"layers {first} to {last} removed from Q4_1"


class PresetPair(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A target and a draft that people use together; each is a preset's or a model's name."""

    target: str
    draft: str
    fits: bool
    note: str | None = None


@cache
def presets() -> dict[str, Preset]:
    listed = [read_entry(Preset, f"presets.{x.get('name')}", x) for x in _TABLES["presets"]]
    return {each.name: replace(each, key=listed_slug(each.model)) for each in listed}


def preset_named(name: str) -> Preset | None:
    """The preset with this name, however its words are separated; `None` for an unknown name.

    The name is a preset's or a model's, with or without its owner, and may add a quantisation:
    `qwen3-8b`, `Qwen/Qwen3-8B`, `qwen3:8b-q8_0`. A model of known shape needs no entry in
    `presets.toml`; neither does a name without an owner that states the model's size.
    """
    return preset_of(read_model(name))


@cache
def preset_of(ref: ModelRef) -> Preset | None:
    """The preset of a model whose name was read; `None` for a file or an unknown model."""
    name, owned = ref.written, "/" in ref.written
    in_gguf = "gguf" in name.lower()
    if name.lower().endswith("gguf" if owned else ".gguf") or (owned and not _OWNER.match(name)):
        return None
    named = _by_name().get(_joined(name))
    if named is not None or unknown_tag(ref):
        return named
    if ref.unknown and owned and not in_gguf:
        return None  # another repository's weights
    found = preset_for(ref.slug, ref.quantisation, owned=owned)
    if found is None or not (owned and in_gguf):
        return found
    return replace(found, name=name, repository=name.partition(":")[0], file=None)


def preset_called(name: str) -> Preset | None:
    """The preset with exactly this name, as other presets and the evidence have it."""
    model, _, quantisation = name.partition(":")
    return presets().get(name) or (
        preset_for(model, quantisation.upper()) if quantisation else None
    )


def unknown_tag(ref: ModelRef) -> str | None:
    """The tag after a name's colon if a part of it is not understood."""
    _, colon, tag = ref.written.rpartition(":")
    words = re.findall(r"[a-z0-9.]+", tag.lower())
    return tag if colon and not set(words).isdisjoint(ref.unknown) else None


def default_draft(name: str) -> Preset | None:
    """The draft model that people use with a target, given its name or its repository."""
    target = preset_named(name) or preset_named(_REPOSITORY.sub("", name))
    return drafts_for(target).get(DRAFT_MODEL) if target else None


@cache
def drafts_for(target: Preset) -> Mapping[str, Preset]:
    """The draft files that people use with a target, by method: the first pair's that fits."""
    found: dict[str, Preset] = {}
    for pair in pairs():
        draft, of = presets().get(pair.draft), presets().get(pair.target)
        if draft is None or not pair.fits:
            continue
        alike = target.model in (of and of.model, pair.target) and draft.model != target.model
        if alike or pair.target == target.name:
            found.setdefault(draft.head or DRAFT_MODEL, draft)
    return found


@lru_cache(maxsize=4096)
def preset_for(slug: str, quantisation: str | None = None, *, owned: bool = False) -> Preset | None:
    """A model's preset by the model's key, in this or, if `None`, its usual quantisation.

    A model without a preset is usually in Q4_K_M. `owned` means that the name had an owner.
    """
    alike = _by_model().get(slug, [])
    for each in alike:
        if quantisation in (None, each.quantisation, each.quantisation.removeprefix("UD-")):
            return each
    bits = quantisation or DEFAULT_QUANTISATION
    fetched = _IN_GGUF.match(bits) is not None
    if alike:
        return replace(
            alike[0],
            name=f"{alike[0].name.partition(':')[0]}:{bits.lower()}",
            quantisation=bits,
            repository=alike[0].repository if fetched else None,
            size_mb=None,
            size_from=None,
            file=None,
        )
    shape = None if is_head(slug) else shape_named(slug)
    # An unlisted repository is used directly, unless its model is in the table.
    if shape is None or (owned and (shape.error or not (quantisation or shape.name == slug))):
        return None
    return Preset(
        name=f"{slug}:{bits.lower()}",
        model=slug,
        family=shape.architecture,
        vocabulary=shape.name,
        quantisation=bits,
        repository=_TABLES["repositories"].get(slug) if fetched else None,
        method=HEAD if shape.head_layers else None,
        key=slug,
    )


@cache
def _by_model() -> dict[str, list[Preset]]:
    """The presets of whole models by their slugs."""
    found: dict[str, list[Preset]] = {}
    for preset in presets().values():
        if not preset.head and not preset.pruned_layers:
            found.setdefault(preset.key, []).append(preset)
    return found


@cache
def _by_name() -> dict[str, Preset]:
    return {_joined(each.name): each for each in presets().values()}


def _joined(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower())


@cache
def pairs() -> tuple[PresetPair, ...]:
    return tuple(read_entry(PresetPair, f"pairs.{x.get('target')}", x) for x in _TABLES["pairs"])
