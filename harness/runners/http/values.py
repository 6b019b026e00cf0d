"""Read counts, times and token margins from the JSON of a server's answer."""

import math
from collections.abc import Mapping

from schemas.codec import Json

_TWO = 2


class BadAnswerError(Exception):
    """An answer that lacks what it must have, or contradicts itself."""


def count(values: Mapping[str, Json], name: str) -> int | None:
    """The count under a name; `None` if it is missing or not a count."""
    value = values.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int) or value < 0 else value


def milliseconds(values: Mapping[str, Json], name: str) -> float | None:
    """The duration under a name; `None` if it is missing or not a duration."""
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def whole_numbers(value: Json) -> tuple[int, ...] | None:
    """A list of token ids or counts; `None` if it is empty or something else."""
    if not isinstance(value, list) or not value:
        return None
    numbers = tuple(item for item in value if isinstance(item, int))
    return numbers if len(numbers) == len(value) else None


def margins(listed: Json, *, tokens: int) -> tuple[float, ...] | None:
    """Log probability of each token minus the runner-up's, which is the difference of logits.

    `None` where there are not two candidates for each of so many tokens.
    """
    entries = listed if isinstance(listed, list) else []
    found = [_margin(entry) for entry in entries]
    known = tuple(margin for margin in found if margin is not None)
    return known if len(known) == len(found) == tokens else None


def _margin(entry: Json) -> float | None:
    top = entry.get("top_logprobs") if isinstance(entry, dict) else None
    if not isinstance(top, list):
        return None
    stated = [item.get("logprob") for item in top[:_TWO] if isinstance(item, dict)]
    values = sorted((float(v) for v in stated if isinstance(v, int | float)), reverse=True)
    return values[0] - values[1] if len(values) == _TWO else None
