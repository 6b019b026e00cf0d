"""How drafts are made: one class per method of the schema."""

from typing import get_args

from msgspec import Struct


class _Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """How drafts are made. One class per `type`, which is its tag in the file."""

    @property
    def type(self) -> str:
        return str(self.__struct_config__.tag)


class NoSpeculation(_Method, frozen=True, tag="none"): ...


class DraftModel(_Method, frozen=True, kw_only=True, tag="draft-model"):
    draft: str
    n_max: int
    n_min: int | None = None
    p_min: float | None = None
    adaptive: bool | None = None
    controller: str | None = None


class PromptLookup(_Method, frozen=True, kw_only=True, tag="prompt-lookup"):
    n_max: int
    ngram_min: int
    ngram_max: int


class Ngram(_Method, frozen=True, kw_only=True):
    """The parameters that all methods without a model share."""

    n_max: int | None = None
    n_min: int | None = None
    ngram_size: int | None = None
    min_hits: int | None = None
    adaptive: bool | None = None
    controller: str | None = None


class NgramSimple(Ngram, frozen=True, tag="ngram-simple"): ...


class NgramMapK(Ngram, frozen=True, tag="ngram-map-k"): ...


class NgramMapK4v(Ngram, frozen=True, tag="ngram-map-k4v"): ...


class NgramMod(Ngram, frozen=True, tag="ngram-mod"): ...


class NgramCache(Ngram, frozen=True, tag="ngram-cache"): ...


class Suffix(Ngram, frozen=True, tag="suffix"): ...


class DraftHead(_Method, frozen=True, kw_only=True):
    """The parameters that all heads trained for one target share."""

    draft: str | None = None
    n_max: int | None = None
    n_min: int | None = None
    p_min: float | None = None
    adaptive: bool | None = None
    controller: str | None = None


class Mtp(DraftHead, frozen=True, tag="mtp"): ...


class Eagle3(DraftHead, frozen=True, tag="eagle3"): ...


class DFlash(DraftHead, frozen=True, tag="dflash"): ...


class DSpark(DraftHead, frozen=True, tag="dspark"): ...


class Oracle(_Method, frozen=True, kw_only=True, tag="oracle"):
    n_max: int
    acceptance: float


class Forced(_Method, frozen=True, kw_only=True, tag="forced"):
    """An instrument: the engine accepts `length` tokens per round on average."""

    n_max: int
    length: float
    draft: str | None = None


class EmptyDraft(_Method, frozen=True, tag="empty-draft"): ...


class OtherMethod(_Method, frozen=True, kw_only=True, tag="other"):
    """A method that has no entry, or a chain of those that have one."""

    name: str
    n_max: int | None = None
    chain: tuple[str, ...] | None = None
    adaptive: bool | None = None
    controller: str | None = None


AnyNgram = NgramSimple | NgramMapK | NgramMapK4v | NgramMod | NgramCache | Suffix
AnyDraftHead = Mtp | Eagle3 | DFlash | DSpark
Method = (
    NoSpeculation
    | DraftModel
    | PromptLookup
    | AnyNgram
    | AnyDraftHead
    | Oracle
    | Forced
    | EmptyDraft
    | OtherMethod
)


def limit(method: Method) -> int | None:
    """The most tokens that a round drafts, whether or not each round drafts as many.

    `None` where it is unknown, and for a chain: its `n_max` is that of the one method with a depth.
    """
    if isinstance(method, OtherMethod) and method.chain:
        return None
    most: int | None = getattr(method, "n_max", None)
    return most


METHOD_CLASSES: dict[str, type] = {str(cls.__struct_config__.tag): cls for cls in get_args(Method)}
