"""Whose clock is used? The server's where it tells all arms' times, else that of the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.runners.openai.answer import Answer
    from schemas.codec import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTimes:
    """What a server says of its own work on one answer, in milliseconds.

    `prompt_ms` is `None` where a part of the prompt came from a cache, or may have.
    """

    decode_ms: float
    prompt_ms: float | None


def server_times(answer: Answer, *, salted: bool) -> ServerTimes | None:
    """The server's times in an answer: `timings` of llama.cpp, `metrics` of vLLM; else `None`.

    `salted` says that the prompt cache was kept out of this request.
    """
    timings, metrics = answer.beside.get("timings"), answer.beside.get("metrics")
    if isinstance(timings, dict):
        return _times(timings, "predicted_ms", "prompt_ms", whole=timings.get("cache_n") == 0)
    if isinstance(metrics, dict):
        whole = salted or answer.cached_tokens == 0
        return _times(metrics, "generation_time_ms", "time_to_first_token_ms", whole=whole)
    return None


def _times(
    values: Mapping[str, Json], decode: str, prompt: str, *, whole: bool
) -> ServerTimes | None:
    decode_ms = _ms(values.get(decode))
    if decode_ms is None:
        return None
    return ServerTimes(decode_ms=decode_ms, prompt_ms=_ms(values.get(prompt)) if whole else None)


def _ms(value: Json) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return float(value) if usable and isinstance(value, int | float) else None
