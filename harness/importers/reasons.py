"""Why did a generation of another tool fail? Its own words, in terms of our closed list."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schemas.submission import Reason

_SIGNS: dict[str, Reason] = {
    "out of memory": "out-of-memory",
    "outofmemory": "out-of-memory",
    "timed out": "timed-out",
    "timeout": "timed-out",
    "context size": "context-too-small",
    "context length": "context-too-small",
    "connect": "crashed",
    "connection": "crashed",
    "reset by peer": "crashed",
    "remote end closed": "crashed",
    "http": "bad-answer",
    "json": "bad-answer",
}


def reason_of(said: str | None) -> Reason:
    """The first sign in the tool's words decides; without one it is `other`."""
    words = (said or "").lower()
    return next((reason for sign, reason in _SIGNS.items() if sign in words), "other")
