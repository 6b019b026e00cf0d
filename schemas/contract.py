"""Is this file a valid submission? The one answer that harness, pipeline and workflows share.

Three steps, each a source of findings: strict load, schema, cross-field rules. A step runs only
when the one before it found nothing, because it relies on what that one has established.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from jsonschema.protocols import Validator

from schemas import compiled, strict
from schemas.codec import Json, decode
from schemas.finding import Finding, bounded
from schemas.messages import findings_of
from schemas.migrations import migrated
from schemas.rules import RULES
from schemas.submission import Submission

SUBMISSION_SCHEMA = "submission.v1.schema.json"
PUBLISHED_SCHEMA = "published.v1.schema.json"
LIFECYCLE_SCHEMA = "lifecycle.v1.schema.json"
VERDICT_SCHEMA = "verdict.v1.schema.json"


def findings(data: bytes) -> tuple[Finding, ...]:
    """All that is wrong with the bytes of a submission; empty when it is valid. Never raises."""
    result = read(data)
    return () if isinstance(result, Submission) else result


def read(data: bytes) -> Submission | tuple[Finding, ...]:
    """The submission in these bytes, or the findings that keep it from being one. Never raises."""
    loaded = strict.load(data)
    document = loaded if isinstance(loaded, tuple) else migrated(loaded)
    if isinstance(document, tuple):
        return document
    found = schema_findings(document, SUBMISSION_SCHEMA)
    if found:
        return found
    submission = decode(Submission, document)
    return bounded(f for rule in RULES.values() for f in rule(submission)) or submission


def published_findings(data: bytes) -> tuple[Finding, ...]:
    """All that is wrong with the bytes of a published document. Never raises."""
    document = strict.load(data)
    return document if isinstance(document, tuple) else schema_findings(document, PUBLISHED_SCHEMA)


def lifecycle_findings(data: bytes) -> tuple[Finding, ...]:
    """All that is wrong with the bytes of a lifecycle entry. Never raises."""
    document = strict.load(data)
    return document if isinstance(document, tuple) else schema_findings(document, LIFECYCLE_SCHEMA)


def schema_findings(document: Json, name: str) -> tuple[Finding, ...]:
    """The violations of a schema, sorted by place."""
    errors = _validator(name).iter_errors(document)
    return bounded(f for error in errors for f in findings_of(error))


@cache
def schema(name: str) -> dict[str, Any]:
    """A schema of this package as a JSON value; the caller must not change it."""
    text = resources.files("schemas").joinpath(name).read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


@cache
def _validator(name: str) -> Validator:
    return compiled.validator(schema(name))
