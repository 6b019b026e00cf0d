"""Define findings: faults of a document, each with its file, place, message and rule."""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from typing import TypeAlias

# The JSON path of a value that breaks a rule, and the message.
Violation: TypeAlias = tuple[str, str]

ROOT = "$"
MAX_FINDINGS = 500
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9.][A-Za-z0-9._/-]{0,199}")
_SHOWN_CHARACTERS = 60
_SHOWN_CHOICES = 16


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """A fault at one place in a document: the error, the expected value, the action to take.

    `file` is empty if the document is not in a file. `path` is a JSON path such as
    `$.trials[3].decode_ms`. `rule` names the check that found the fault.
    """

    file: str = ""
    path: str
    message: str
    rule: str

    def line(self) -> str:
        """The finding as one line: `file: $.path: message [rule]`."""
        return f"{self.file}: {self.path}: {self.message} [{self.rule}]"


def in_file(found: Iterable[Finding], file: str) -> tuple[Finding, ...]:
    """The findings on a document, with the name of the file that contains it."""
    return tuple(replace(each, file=file) for each in found)


def bounded(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """At most `MAX_FINDINGS` findings, sorted by place; a further one says if there are more."""
    first = list(islice(found, MAX_FINDINGS + 1))
    found_first = tuple(sorted(set(first[:MAX_FINDINGS])))
    if len(first) <= MAX_FINDINGS:
        return found_first
    message = f"more than {MAX_FINDINGS} findings; the rest are not listed"
    return (*found_first, Finding(path=ROOT, message=message, rule="many-findings"))


def nearest(word: str, known: Collection[str]) -> str:
    """A hint such as ` (did you mean "decode_ms"?)` if a known word is similar to this word."""
    if len(word) > _SHOWN_CHARACTERS:  # comparing long words is slow
        return ""
    close = get_close_matches(word, sorted(known), n=1, cutoff=0.7)
    return f" (did you mean {shown(close[0])}?)" if close else ""


def choices(known: Collection[object]) -> str:
    """The first few of the known values, sorted, as JSON for a message."""
    values = sorted(map(shown, known))
    return ", ".join(values[:_SHOWN_CHOICES]) + (", ..." if len(values) > _SHOWN_CHOICES else "")


def child_path(path: str, step: str | int) -> str:
    """The JSON path one step below `path`; a key that is not a plain word is quoted and escaped."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if _PLAIN_KEY.fullmatch(step) else f"{path}[{shown(step)}]"


def quoted_path(path: str) -> str:
    """A path to print: unchanged if it is plain, else quoted, escaped and shortened."""
    return path if _PLAIN_PATH.fullmatch(path) else shown(path)


def shown(value: object) -> str:
    """A JSON value as short, printable ASCII text for a message; a container only by its size."""
    if isinstance(value, dict):
        return f"an object (fields: {len(value)})"
    if isinstance(value, list):
        return f"a list (entries: {len(value)})"
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
