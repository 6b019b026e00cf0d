"""Read the reason of a failure from an engine's log or answer."""

import re

from harness.runners.base import Failure
from schemas.submission import Reason

# The first phrase that occurs decides, so specific phrases come before general ones.
_IN_LOGS: tuple[tuple[str, Reason], ...] = (
    ("out of memory", "out-of-memory"),
    ("failed to allocate", "out-of-memory"),
    ("unable to allocate", "out-of-memory"),
    ("cudamalloc failed", "out-of-memory"),
    ("erroroutofdevicememory", "out-of-memory"),
    ("insufficient memory", "out-of-memory"),
    ("kv cache allocation is less than requested", "out-of-memory"),
    ("no available memory for the cache blocks", "out-of-memory"),
    ("is less than desired gpu memory utilization", "out-of-memory"),
    ("vocabs are not compatible", "vocabulary-mismatch"),
    ("vocab type must match", "vocabulary-mismatch"),
    ("vocab special tokens must match", "vocabulary-mismatch"),
    ("vocab contents must match", "vocabulary-mismatch"),
    ("vocab size difference", "vocabulary-mismatch"),
    ("is not compatible with the target", "vocabulary-mismatch"),
    ("should have the same vocabulary size", "vocabulary-mismatch"),
    ("couldn't bind", "load-failed"),
    ("address already in use", "load-failed"),
    ("invalid repository id or local directory", "load-failed"),
    ("error loading model", "load-failed"),
    ("failed to load model", "load-failed"),
    ("failed to load draft model", "load-failed"),
    ("model loading error", "load-failed"),
)
# Not searched for in logs, which mention the context's length also where nothing is wrong.
_IN_ANSWERS: tuple[tuple[str, Reason], ...] = (
    ("out of memory", "out-of-memory"),
    ("maximum context length", "context-too-small"),
    ("exceeds the available context size", "context-too-small"),
    ("context length", "context-too-small"),
)
_BAD = re.compile(r"error|failed|abort|assert|mismatch|incompatible", re.IGNORECASE)
_FRAME = re.compile(r"#\d+\s")  # of a backtrace, which comes after the reason


def reason_in_log(log: str) -> Reason | None:
    """The reason that a log names, if it names one."""
    found = _decisive(log, _IN_LOGS)
    return found[1] if found else None


def reason_in_answer(message: str) -> Reason | None:
    """The reason that a server's refusal names, if it names one."""
    found = _decisive(message, _IN_ANSWERS)
    return found[1] if found else None


def is_out_of_memory(log: str) -> bool:
    """Whether a log reports a failed allocation."""
    return reason_in_log(log) == "out-of-memory"


def failure_in_log(log: str, *, otherwise: Reason, what: str) -> Failure:
    """Why an engine ended, with the line of its log that states it."""
    return Failure(reason=reason_in_log(log) or otherwise, detail=f"{what}: {last_line(log)}")


def last_line(log: str) -> str:
    """The last line with the reason, else the last with an error, else the last line."""
    lines = [" ".join(line.split()) for line in log.splitlines() if line.strip()]
    found = _decisive(log, _IN_LOGS)
    telling = [line for line in lines if found and found[0] in line.lower()]
    bad = [line for line in lines if _BAD.search(line) and not _FRAME.match(line)]
    return (telling or bad or lines or ["its log is empty"])[-1][:200]


def _decisive(text: str, phrases: tuple[tuple[str, Reason], ...]) -> tuple[str, Reason] | None:
    lower = text.lower()
    return next((each for each in phrases if each[0] in lower), None)
