"""Which known name did the person probably mean? The nearest one, if any is near."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suggestion(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` with the nearest known name, or the list of all when none is near."""
    choices = sorted(known)
    matches = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if matches:
        return f" Did you mean {matches[0]!r}?"
    return f" Known: {', '.join(choices)}." if choices else ""
