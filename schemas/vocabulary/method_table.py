"""Read the methods by their ids, as `methods.toml` describes them."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from schemas.vocabulary.documents import document, entries


class LlamaCpp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """llama.cpp's names for a method's type and for each parameter's flag, newest name first.

    The flags in `forced` set the number of tokens that a round yields.
    """

    types: tuple[str, ...]
    sizes: Mapping[str, tuple[str, ...]] = {}
    forced: tuple[str, ...] = ()


class IkLlamaCpp(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """ik_llama.cpp's names for a method: its type, and the keys for each parameter."""

    type: str
    keys: Mapping[str, tuple[str, ...]] = {}


class Vllm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A method in vLLM's `--speculative-config`: its name, its parameters except depth, other keys.

    An entry without `method` has no command line.
    """

    method: str | None = None
    sizes: Mapping[str, str] = {}
    config: Mapping[str, bool | str] = {}


class MethodEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A drafting method; `methods.toml` explains the keys."""

    id: str
    label: str
    summary: str
    reported: str | None = None
    colour: str | None = None
    shape: str | None = None
    draft: Literal["none", "built-in", "required"] = "none"
    architectures: tuple[str, ...] = ()
    generations: Mapping[str, str] = {}
    drafts: bool = True
    every_round: bool = False
    free: bool = False
    fixed: bool = False
    instrument: bool = False
    lossy: bool = False
    control: Literal["baseline-again", "empty-draft"] | None = None
    runners: tuple[str, ...] = ()
    nearest: str | None = None
    defaults: Mapping[str, int | float] = {}
    usual_depth: int | None = None
    optional: tuple[str, ...] = ()
    llama_cpp: LlamaCpp | None = None
    ik_llama_cpp: IkLlamaCpp | None = None
    vllm: Vllm | None = None
    served: Mapping[str, tuple[str, ...]] = {}


METHODS = entries(MethodEntry, "methods", document("methods"))
