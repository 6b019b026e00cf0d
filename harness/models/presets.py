"""Read the named models, and the pairs that people use, from `presets.toml`."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

import msgspec

from schemas.vocabulary import model_name

DEFAULT_TARGET = "smollm2-135m:f16"
DEFAULT_DRAFT = "smollm2-135m:q4_1"
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
    def derivation(self) -> str | None:
        """How the file was made of the embedded weights; `None` for any other file."""
        if self.repository is not None or self.name == DEFAULT_DRAFT:
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


def preset_named(name: str) -> Preset | None:
    """The preset of a name or of one of its model's aliases, however its words are joined."""
    wanted, model = _joined(name), model_name(name)
    known = presets().values()
    alike = (each for each in known if model != name and model_name(each.model) == model)
    return next((each for each in known if _joined(each.name) == wanted), next(alike, None))


def _joined(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower())


@cache
def pairs() -> tuple[Pair, ...]:
    return msgspec.convert(_tables()["pairs"], tuple[Pair, ...])


def _tables() -> dict[str, Any]:
    text = resources.files("harness.models").joinpath("presets.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
