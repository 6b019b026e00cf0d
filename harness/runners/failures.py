"""Read from an engine's log or answer why something failed."""

import re
from typing import Literal

from harness.runners.base import Failure
from schemas.submission import Reason
from schemas.vocabulary.documents import document

_PHRASES: dict[str, dict[Reason, list[str]]] = document("failure_phrases", "harness.runners")
_BAD = re.compile(r"error|failed|abort|assert|mismatch|incompatible", re.IGNORECASE)
_FRAME = re.compile(r"#\d+\s")  # a line of a backtrace, which follows the reason


def reason_in(text: str, where: Literal["logs", "answers"] = "logs") -> Reason | None:
    """Return the failure reason that a log, or a server's refusal in an answer, names, if any."""
    return _decisive(text, where)[1]


def failure_in_log(log: str, *, otherwise: Reason, what: str) -> Failure:
    """Return why an engine ended, with the log line that names the reason."""
    return Failure(reason=reason_in(log) or otherwise, detail=f"{what}: {last_line(log)}")


def last_line(log: str) -> str:
    """Return the last log line that gives the reason for a failure.

    Without such a line, return the last line with an error, or else the last line.
    """
    lines = [" ".join(line.split()) for line in log.splitlines() if line.strip()]
    phrase, _ = _decisive(log, "logs")
    telling = [line for line in lines if phrase and phrase in line.lower()]
    bad = [line for line in lines if _BAD.search(line) and not _FRAME.match(line)]
    return (telling or bad or lines or ["the log is empty"])[-1][:200]


def _decisive(text: str, where: str) -> tuple[str | None, Reason | None]:
    """Return the first known phrase in a text, and the failure reason that it indicates."""
    lower = text.lower()
    listed = ((each, reason) for reason, some in _PHRASES[where].items() for each in some)
    return next((pair for pair in listed if pair[0] in lower), (None, None))
