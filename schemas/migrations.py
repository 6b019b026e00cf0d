"""Convert a file in an older format to today's when it is read; files are never rewritten.

Every version so far only adds optional fields, so an older file differs only in its version. A
version that changes more needs a step here that converts to the new document and back.
"""

from collections.abc import Iterator
from typing import cast

from schemas.authority import schema_findings
from schemas.codec import Json, canonical_bytes, encode
from schemas.finding import Finding
from schemas.submission import Submission
from schemas.validator import SUBMISSION_SCHEMA

VERSION = 2


def own_schema(document: Json) -> str:
    """The name of the schema for a submission's stated version; the newest if that is unknown."""
    version = document.get("version") if isinstance(document, dict) else None
    is_older = type(version) is int and version in range(1, VERSION)
    return f"submission.v{version}" if is_older else SUBMISSION_SCHEMA


def migrated(document: Json, *, is_valid: bool = False) -> Json | tuple[Finding, ...]:
    """The document in today's format, or its faults under its stated version. Never raises.

    The document is checked against its own version, so that a message names the fields that it may
    have; with `is_valid`, the check is skipped. A document that is not in an older version is
    returned unchanged.
    """
    name = own_schema(document)
    if not isinstance(document, dict) or name == SUBMISSION_SCHEMA:
        return document
    found = () if is_valid else schema_findings(document, name)
    return found or {**document, "version": VERSION}


def forms(submission: Submission) -> Iterator[bytes]:
    """The canonical bytes of a file with this content: in today's format, then in older formats.

    They are needed because a file's name contains a digest of its bytes in whichever version it
    has.
    """
    document = cast("dict[str, Json]", encode(submission))
    for version in range(VERSION, 0, -1):
        yield canonical_bytes({**document, "version": version})
