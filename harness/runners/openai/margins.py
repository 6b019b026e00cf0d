"""How sure was the model of each token? The two best log probabilities, from an untimed answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemas.codec import Json

_TWO = 2


def margins_in(answer: Json, *, tokens: tuple[int, ...]) -> tuple[float, ...] | None:
    """Log probability of each token minus the runner-up's, which is the difference of logits.

    `None` when the answer is not the one with these tokens: then the model does not repeat itself.
    """
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or choice.get("token_ids") != list(tokens):
        return None
    logprobs = choice.get("logprobs")
    listed = logprobs.get("content") if isinstance(logprobs, dict) else None
    entries = listed if isinstance(listed, list) else []
    margins = [_margin(entry) for entry in entries if isinstance(entry, dict)]
    known = tuple(margin for margin in margins if margin is not None)
    return known if len(known) == len(tokens) else None


def _margin(entry: Mapping[str, Json]) -> float | None:
    top = entry.get("top_logprobs")
    if not isinstance(top, list):
        return None
    said = [item.get("logprob") for item in top[:_TWO] if isinstance(item, dict)]
    values = sorted((float(v) for v in said if isinstance(v, int | float)), reverse=True)
    return values[0] - values[1] if len(values) == _TWO else None
