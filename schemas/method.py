"""Define a method of drafting, as one type for all methods."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

DRAFT_MODEL = "draft-model"


class Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A method of drafting. `METHODS[type]` has the properties that all methods of a type share.

    The JSON Schema defines which parameters a type requires and which it may have. A file is
    checked against the schema before it is decoded. A parameter that a method lacks is `None`.
    `nodes` are the drafted tokens of a tree, whose levels are `n_max`.
    """

    type: str
    draft: str | None = None
    name: str | None = None
    n_max: int | None = None
    nodes: int | None = None
    n_min: int | None = None
    p_min: float | None = None
    ngram_size: int | None = None
    min_hits: int | None = None
    ngram_min: int | None = None
    ngram_max: int | None = None
    length: float | None = None
    acceptance: float | None = None
    chain: tuple[str, ...] | None = None
    adaptive: bool | None = None
    controller: str | None = None

    @property
    def types(self) -> tuple[str, ...]:
        """The types of a chain in order, or the single type of any other method."""
        return self.chain or (self.type,)

    @property
    def sizes(self) -> dict[str, Any]:
        """Every parameter by its name; `None` if the method lacks it."""
        return msgspec.structs.asdict(self)

    @property
    def scripted(self) -> bool:
        """Whether the method is an instrument with forced acceptance."""
        return self.length is not None or self.acceptance is not None


def method_with(kind: str, values: Mapping[str, object]) -> Method:
    """A method of this type with these parameters."""
    return msgspec.convert({"type": kind, **values}, Method)


NO_SPECULATION = Method(type="none")


def limit(method: Method) -> int | None:
    """The largest number of tokens that a round drafts; some rounds may draft fewer.

    The limit is `None` if it is unknown. It is also `None` for a chain, because `n_max` then
    applies only to the one method of the chain that has a depth.
    """
    return None if method.chain else method.n_max
