"""Read counts, times and token margins from the JSON of a server's answer."""

import math
from collections.abc import Mapping
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct

from harness.runners.http.client import ServerError
from schemas.codec import Json

T = TypeVar("T")
Count = Annotated[int, Meta(ge=0)]
TokenId = Annotated[int, Meta(ge=-(2**31), lt=2**31)]  # digests use 32 bits of each id
Milliseconds = Annotated[float, Meta(ge=0, le=1e15)]


class BadAnswerError(ServerError):
    """An answer that lacks required data, or contradicts itself."""


def count(values: Mapping[str, Json], name: str) -> int | None:
    """Return a field's value if it is a count, that is, a non-negative integer; else `None`."""
    value = values.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int) or value < 0 else value


def milliseconds(values: Mapping[str, Json], name: str) -> float | None:
    """Return a field's value if it is a finite, non-negative number; else `None`."""
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def whole_numbers(value: Json) -> tuple[int, ...] | None:
    """Return a JSON list of 32-bit integers as a tuple; `None` if it is empty or anything else."""
    if not isinstance(value, list) or not value:
        return None
    numbers = tuple(each for each in value if isinstance(each, int) and abs(each) < 2**31)
    return numbers if len(numbers) == len(value) else None


class _Candidate(Struct, frozen=True):
    logprob: float


class _Position(Struct, frozen=True):
    top_logprobs: tuple[_Candidate, ...]


def margins(listed: Json, *, tokens: int) -> tuple[float, ...] | None:
    """Return each token's log probability minus the runner-up's, which is the logit difference.

    Returns `None` unless there are two candidates for each of `tokens` tokens.
    """
    try:
        positions = msgspec.convert(listed, tuple[_Position, ...])
    except msgspec.ValidationError:
        return None
    top = [sorted((c.logprob for c in each.top_logprobs[:2]), reverse=True) for each in positions]
    known = tuple(pair[0] - pair[1] for pair in top if pair[1:])
    return known if len(known) == len(top) == tokens else None


def read_as(kind: type[T], answer: Json, *, what: str) -> T:
    """Convert an answer to a type. Raises `BadAnswerError` naming a missing or wrong field."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise BadAnswerError(f"{what}: {error}") from error


def require_plain(drafted: int | None) -> None:
    """Raise `BadAnswerError` if a server drafted for an arm without speculation."""
    if drafted:
        raise BadAnswerError(
            f"the baseline's server drafted {drafted} tokens; give a server that was started "
            "without speculation"
        )
