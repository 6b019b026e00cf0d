"""How are drafts made? One dataclass per kind, told apart by `type`, as the schema has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

NgramType = Literal[
    "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache", "suffix"
]
HeadType = Literal["mtp", "eagle3", "dflash", "dspark"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSpeculation:
    type: Literal["none"] = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModel:
    draft: str
    n_max: int
    n_min: int | None = None
    p_min: float | None = None
    adaptive: bool | None = None
    type: Literal["draft-model"] = "draft-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLookup:
    n_max: int
    ngram_min: int
    ngram_max: int
    type: Literal["prompt-lookup"] = "prompt-lookup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ngram:
    type: NgramType
    n_max: int | None = None
    n_min: int | None = None
    ngram_size: int | None = None
    min_hits: int | None = None
    adaptive: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftHead:
    type: HeadType
    draft: str | None = None
    n_max: int | None = None
    n_min: int | None = None
    p_min: float | None = None
    adaptive: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    n_max: int
    acceptance: float
    type: Literal["oracle"] = "oracle"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyDraft:
    type: Literal["empty-draft"] = "empty-draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMethod:
    name: str
    n_max: int | None = None
    type: Literal["other"] = "other"


Method = (
    NoSpeculation
    | DraftModel
    | PromptLookup
    | Ngram
    | DraftHead
    | Oracle
    | EmptyDraft
    | OtherMethod
)

METHOD_CLASSES: dict[str, type[Method]] = {
    kind: cls for cls in get_args(Method) for kind in get_args(get_type_hints(cls)["type"])
}
