"""Read the named models, and the pairs that people use, from `presets.toml`."""

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from answers.shapes import quantisation_of, shape_of, shapes
from schemas.vocabulary import METHODS, model_name
from schemas.vocabulary.documents import document

DEFAULT_TARGET = "smollm2-135m:f16"
DEFAULT_DRAFT = "smollm2-135m:q4_1"
_DEFAULT_QUANTISATION = "Q4_K_M"
# The method of a built-in prediction head.
HEAD = next(x.id for x in METHODS.values() if x.draft == "built-in" and not x.instrument)
_OWNER = re.compile(r"[\w-][\w.-]*/(?=[^/]+$)")
_REPOSITORY = re.compile(r"^[\w-][\w.-]*/|-GGUF(?=:|$)", re.IGNORECASE)
SizeFrom = Literal["made", "repository", "elsewhere", "computed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A named model: from a hub repository, or derived from the embedded weights.

    Two presets with the same `vocabulary` can draft for each other. `draft` names the one to use.
    `head` is the method of a file that is a draft head, not a model, and `file` its name where the
    repository also holds the model. `method` drafts without another file. `None` is unknown.
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
    draft: str | None = None
    pruned_layers: tuple[int, ...] = ()
    head: str | None = None
    file: str | None = None
    method: str | None = None

    @property
    def reference(self) -> str:
        """What a hub is asked for: the repository, and what tells the file from its others."""
        return f"{self.repository}:{self.file or self.quantisation}"

    @property
    def made(self) -> bool:
        """Whether its file is made here, of the embedded weights."""
        return self.size_from == "made"

    @property
    def derivation(self) -> str | None:
        """How the file was made of the embedded weights; `None` for any other file."""
        if not self.made or self.name == DEFAULT_DRAFT:
            return None
        if not self.pruned_layers:
            return "requantised from Q4_1"
        first, last = self.pruned_layers[0], self.pruned_layers[-1]
        return f"layers {first} to {last} removed from Q4_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A target and a draft that people use together, each a preset or the name of a model."""

    target: str
    draft: str
    fits: bool
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """What everybody measures alike: the first target that fits, a method, a few prompts."""

    targets: tuple[str, ...]
    method: str
    tasks: tuple[str, ...]
    prompts: int
    max_output_tokens: int
    blocks: int


@cache
def month() -> Month:
    return msgspec.convert(_tables()["month"], Month)


@cache
def presets() -> dict[str, Preset]:
    return {each.name: each for each in msgspec.convert(_tables()["presets"], list[Preset])}


@lru_cache(maxsize=4096)
def preset_named(name: str) -> Preset | None:
    """The preset that a name means, however its words are joined; `None` for an unknown name.

    A name is that of a preset, a model's with or without its owner, or either with a quantisation:
    `qwen3-8b`, `Qwen/Qwen3-8B`, `qwen3-8b:Q8_0`. A model whose shape is known needs no entry.
    """
    if name.lower().endswith("gguf") or ("/" in name and _OWNER.match(name) is None):
        return None
    wanted = _joined(name)
    named = next((each for each in presets().values() if _joined(each.name) == wanted), None)
    bits = quantisation_of(name)
    ending = rf"[:\s_-]+(ud-)?{re.sub('_', '[_-]', bits.name)}$" if bits else "$"
    model = re.sub(ending, "", _OWNER.sub("", name), flags=re.IGNORECASE)
    return named or _of_model(model, bits.name if bits else None)


@lru_cache(maxsize=4096)
def default_draft(name: str) -> Preset | None:
    """The draft that people use with a target of this name, or with one in a repository of it."""
    target = preset_named(name) or preset_named(_REPOSITORY.sub("", name))
    return None if target is None or target.draft is None else presets()[target.draft]


def _of_model(model: str, quantisation: str | None) -> Preset | None:
    """A model in a quantisation: its first preset's where it is `None`, else Q4_K_M."""
    wanted = _key(model)
    alike = [
        preset
        for preset in presets().values()
        if wanted in (_key(preset.model), _key(preset.name.partition(":")[0]))
        if not preset.head and not preset.pruned_layers
    ]
    exact = [
        x for x in alike if quantisation and x.quantisation.removeprefix("UD-") == quantisation
    ]
    if exact or (alike and not quantisation):
        return (exact or alike)[0]
    shape = next((shape for shape in shapes() if _key(shape.name) == wanted), None)
    shape = shape or (shape_of(model_name(model)) if quantisation else None)
    bits = quantisation or _DEFAULT_QUANTISATION
    if alike:
        base = alike[0].name.partition(":")[0]
        return replace(
            alike[0],
            name=f"{base}:{bits.lower()}",
            quantisation=bits,
            size_mb=None,
            size_from=None,
            file=None,
        )
    if shape is None:
        return None
    return Preset(
        name=f"{shape.name}:{bits.lower()}",
        model=shape.name,
        family=shape.architecture,
        vocabulary=shape.name,
        quantisation=bits,
        repository=_tables()["repositories"].get(shape.name),
        method=HEAD if shape.head_layers else None,
    )


def _joined(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower())


def _key(model: str) -> str:
    """The same for all spellings of a model."""
    return re.sub(r"(instruct|it|chat)$", "", _joined(model_name(model)))


@cache
def pairs() -> tuple[Pair, ...]:
    return msgspec.convert(_tables()["pairs"], tuple[Pair, ...])


@cache
def _tables() -> dict[str, Any]:
    return document("presets", "answers")
