"""What does a `/completion` answer say that a campaign needs? Counts and times, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from schemas.codec import Json


class BadAnswerError(Exception):
    """An answer that lacks what it must have, or contradicts itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer: token ids, and the engine's own counters and times.

    Builds of early 2026 leave the last tokens out of `tokens` when a round ends at the limit, but
    count them and their time: `output_tokens` is how many there were. `drafted` and `accepted` are
    `None` where the answer does not speak of drafts: nothing was drafted.
    """

    tokens: tuple[int, ...]
    output_tokens: int
    prompt_tokens: int
    prompt_ms: float
    decode_ms: float
    drafted: int | None
    accepted: int | None
    finish: Literal["length", "stop"]


def read_completion(answer: Json) -> Completion:
    """The completion in an answer. Raises `BadAnswerError` saying what is missing or wrong."""
    if not isinstance(answer, dict):
        message = "the answer is no JSON object"
        raise BadAnswerError(message)
    timings = answer.get("timings")
    if not isinstance(timings, dict):
        message = "the answer has no timings"
        raise BadAnswerError(message)
    tokens = _tokens(answer)
    accepted = _count(timings, "draft_n_accepted") if "draft_n_accepted" in timings else None
    return Completion(
        tokens=tokens,
        output_tokens=_stated(timings, tokens, accepted or 0),
        prompt_tokens=_count(answer, "tokens_evaluated"),
        prompt_ms=_ms(timings, "prompt_ms"),
        decode_ms=_ms(timings, "predicted_ms"),
        drafted=_count(timings, "draft_n") if "draft_n" in timings else None,
        accepted=accepted,
        finish="length" if _stopped_by_length(answer) else "stop",
    )


def _tokens(answer: dict[str, Json]) -> tuple[int, ...]:
    found = answer.get("tokens")
    if not isinstance(found, list) or not found:
        message = "the answer has no tokens; this server may not know return_tokens"
        raise BadAnswerError(message)
    return tuple(item for item in found if isinstance(item, int))


def _stated(timings: dict[str, Json], tokens: tuple[int, ...], accepted: int) -> int:
    """How many tokens there were: as many as are listed, or more by some that were accepted."""
    stated = _count(timings, "predicted_n")
    if not len(tokens) <= stated <= len(tokens) + accepted:
        message = f"the answer has {len(tokens)} tokens, but its timings speak of {stated}"
        raise BadAnswerError(message)
    return stated


def _stopped_by_length(answer: dict[str, Json]) -> bool:
    """Whether the limit ended it; builds before 2025 said so in a field of its own."""
    return answer.get("stop_type") == "limit" or answer.get("stopped_limit") is True


def _count(values: dict[str, Json], name: str) -> int:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{name} is {value!r}, not a count"
        raise BadAnswerError(message)
    return value


def _ms(values: dict[str, Json], name: str) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        message = f"{name} is {value!r}, not a time"
        raise BadAnswerError(message)
    return float(value)
