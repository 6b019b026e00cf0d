"""Check new files with a second, reference validator: `jsonschema`, Draft 2020-12, with formats.

`jsonschema-rs` checks every file of the collection, so a bug in it would accept an invalid file or
refuse a valid one. If the two validators disagree on a new file, the file is therefore refused
until somebody has looked at it. The reference validator is tens of times slower, so its total time
for all files is limited.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial, reduce
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.validators import extend

from pipeline.collection.discover import Kind
from schemas import strict
from schemas.codec import Json
from schemas.finding import ROOT, Finding, child_path, shown
from schemas.migrations import own_schema
from schemas.validator import LIFECYCLE_SCHEMA, PUBLISHED_SCHEMA, schema

TIME_S = 60.0  # a file takes a tenth of a second for every 64 KiB; the job has ten minutes
RULE = "validators-disagree"
_SCHEMAS = {"lifecycle": LIFECYCLE_SCHEMA, "published": PUBLISHED_SCHEMA}
# Every subschema is validated by one of these keywords.
_STEPS = ("$ref", "items", "properties")
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:\.[0-9]+)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_RFC_3986 = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
_ASK = "the file is refused until both validators agree: open an issue with this line"

# `jsonschema` checks these two formats only if certain packages are installed.
FORMATS = FormatChecker(("date",))
FORMATS.checks("date-time", raises=ValueError)(
    lambda text: bool(_RFC_3339.fullmatch(text) and date.fromisoformat(text[:10]))
)
FORMATS.checks("uri", raises=ValueError)(
    lambda text: bool(_RFC_3986.fullmatch(text) and urlsplit(text).scheme)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A file with the findings of `jsonschema-rs` and of our own rules."""

    file: str
    data: bytes
    kind: Kind
    findings: Sequence[Finding]


def compared(
    files: Iterable[Judged], *, time_s: float = TIME_S, clock: Callable[[], float] = time.monotonic
) -> tuple[list[Finding], tuple[str, ...]]:
    """The disagreements between the validators, and the files for which there was no time."""
    end = clock() + time_s
    found: list[Finding] = []
    late: list[str] = []
    for each in files:
        try:
            found += _disagreement(each, lambda: clock() > end)
        except TimeoutError:
            late.append(each.file)
    return found, tuple(late)


def violation(
    document: Json, name: str, is_late: Callable[[], bool] = lambda: False
) -> tuple[str, str] | None:
    """The place and the message of the first violation that the reference validator finds.

    Raises `TimeoutError` when the reference validator's time runs out.
    """
    guards = {
        key: partial(_guarded, Draft202012Validator.VALIDATORS[key], is_late) for key in _STEPS
    }
    guarded: Any = extend(Draft202012Validator, guards)  # type: ignore[no-untyped-call] # has no types
    checked = guarded(schema(name), format_checker=FORMATS)
    for error in checked.iter_errors(document):
        words = f"{shown(error.instance)} breaks {error.validator} {shown(error.validator_value)}"
        return reduce(child_path, error.absolute_path, ROOT), words
    return None


def _disagreement(judged: Judged, is_late: Callable[[], bool]) -> Iterator[Finding]:
    document = strict.load(judged.data)
    if isinstance(document, tuple):  # no validator reads a file that the loader refused
        return
    refused = any(each.rule.startswith("schema-") for each in judged.findings)
    there = violation(document, _SCHEMAS.get(judged.kind) or own_schema(document), is_late)
    if refused and there is None:
        message = f"jsonschema accepts this file, but jsonschema-rs refuses it as listed; {_ASK}"
        yield Finding(file=judged.file, path=ROOT, message=message, rule=RULE)
    elif there is not None and not refused:
        message = f"jsonschema-rs accepts this file, but jsonschema refuses it: {there[1]}; {_ASK}"
        yield Finding(file=judged.file, path=there[0], message=message, rule=RULE)


def _guarded(
    keyword: Callable[..., Iterator[Any]], is_late: Callable[[], bool], *given: object
) -> Iterator[Any]:
    if is_late():
        raise TimeoutError
    yield from keyword(*given) or ()
