"""Is this file certainly a valid submission? A quick yes for whole-corpus runs, never a no.

Only canonical bytes can be certified: what `orjson` reads and writes again byte for byte has no
duplicate key, no odd number and no odd white space. The schema is checked column by column, and
the rules are the contract's own. Whatever is not certain goes to the contract, so that every
finding, and every verdict but yes, is the authority's.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, cast

import orjson

from schemas import columns, contract, strict
from schemas.codec import decode
from schemas.rules import RULES
from schemas.submission import Submission, Trial

if TYPE_CHECKING:
    from schemas.codec import Json
    from schemas.columns import Check
    from schemas.finding import Finding


Document: TypeAlias = "dict[str, Json]"

# Signs of numbers that the canonical form would write otherwise: more than six decimals, an
# exponent below zero, minus zero. Found in a text as well, where they only cost the quick way. An
# exponent above zero is out of the schema's bounds.
_ODD_NUMBERS = tuple(
    re.compile(odd).search for odd in (rb"\.[0-9]{7}", rb"e-[0-9]++[,\]}]", rb"-0(?:\.0)?[,\]}]")
)


def findings(data: bytes) -> tuple[Finding, ...]:
    """What `contract.findings` says about these bytes, sooner if they are valid."""
    return () if document(data) is not None else contract.findings(data)


def document(data: bytes) -> Document | None:
    """The document in these bytes if it is certainly valid and canonical. Never raises."""
    found = _canonical(data)
    if found is None or not _schema_check()([found]):
        return None
    submission = _quickly_decoded(found)
    if any(True for rule in RULES.values() for _ in rule(submission)):
        return None
    return found


def _canonical(data: bytes) -> Document | None:
    """The document of canonical, plainly written bytes.

    How deep it may be nested is left to the schema, which is closed.
    """
    if (
        len(data) > strict.MAX_BYTES
        or not strict.is_plain(data)
        or any(odd(data) for odd in _ODD_NUMBERS)
    ):
        return None
    try:
        found = orjson.loads(data)
        written = orjson.dumps(found, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return found if isinstance(found, dict) and written == data else None


@cache
def _schema_check() -> Check:
    return columns.checker(contract.schema(contract.SUBMISSION_SCHEMA))


class _QuickTrial:
    """Reads like a `Trial` and is made many times sooner: the JSON object is its dictionary."""

    def __init__(self, entry: Document) -> None:
        self.__dict__ = entry


for _field in fields(Trial):
    if _field.default is not MISSING:
        setattr(_QuickTrial, _field.name, _field.default)  # what the JSON object does not have


def _quickly_decoded(found: Document) -> Submission:
    """A submission for the rules to read, and for nobody else: its trials are no dataclasses."""
    trials = cast("list[Document]", found["trials"])
    submission = decode(Submission, {**found, "trials": []})
    quick = tuple(map(_QuickTrial, trials))
    return replace(submission, trials=cast("tuple[Trial, ...]", quick))
