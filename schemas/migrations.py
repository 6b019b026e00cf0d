"""Convert a file in an older format to today's when it is read; files are never rewritten.

Every version so far only adds optional fields, so an older file differs only in its version. A
version that changes more needs code in this module that converts documents in both directions.
"""

from collections.abc import Iterator
from typing import cast

from schemas.codec import Json, canonical_bytes, encode
from schemas.finding import Finding
from schemas.submission import Submission
from schemas.validator import SUBMISSION_SCHEMA, schema_findings

VERSION = 2


def own_schema(document: Json) -> str:
    """The name of the schema for a submission's version; the newest if the version is unknown."""
    version = document.get("version") if isinstance(document, dict) else None
    is_older = type(version) is int and version in range(1, VERSION)
    return f"submission.v{version}" if is_older else SUBMISSION_SCHEMA


def migrated(document: Json, *, is_valid: bool = False) -> Json | tuple[Finding, ...]:
    """The document in today's format, or its faults under its stated version. Never raises.

    An older document is checked against the schema of its version, so that messages name that
    version's fields; with `is_valid`, the check is skipped. Any other document is returned
    unchanged.
    """
    name = own_schema(document)
    if not isinstance(document, dict) or name == SUBMISSION_SCHEMA:
        return document
    found = () if is_valid else schema_findings(document, name)
    return found or {**document, "version": VERSION}


def forms(submission: Submission) -> Iterator[bytes]:
    """The canonical bytes of a file with this content: in today's format, then in older formats.

    A file's name contains a digest of its bytes, which depend on the format that the file is in.
    """
    document = cast("dict[str, Json]", encode(submission))
    for version in range(VERSION, 0, -1):
        yield canonical_bytes({**document, "version": version})
