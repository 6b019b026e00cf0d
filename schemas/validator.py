"""Load the schemas, and say quickly whether a document fits one.

`jsonschema-rs` says which document fits. One that does not is judged by `schemas.authority`, which
takes longer to import than a valid file takes to read. The two are made equally strict in what JSON
Schema leaves open: 1.0 is no integer, `$` in a pattern is the end of the text and not the place
before a last newline, and a date must exist.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache
from importlib import resources
from typing import Any

import jsonschema_rs

from schemas.codec import Json

SUBMISSION_SCHEMA = "submission.v2.schema.json"
SUBMISSION_V1 = "submission.v1"  # no file: as every older version, the newest without what is later
OLDER = re.compile(r"submission\.v(\d+)")
PUBLISHED_SCHEMA = "published.v1.schema.json"
LIFECYCLE_SCHEMA = "lifecycle.v1.schema.json"
VERDICT_SCHEMA = "verdict.v1.schema.json"
SOURCES_SCHEMA = "sources.v1.schema.json"

Schema = dict[str, Any]  # JSON of any shape
FORMATS: Mapping[str, Callable[[str], object]] = {
    "date-time": datetime.fromisoformat,
    "date": date.fromisoformat,
}


@cache
def schema(name: str) -> Schema:
    """A schema of this package as a JSON value; the caller must not change it."""
    if older := OLDER.fullmatch(name):
        return _of_version(int(older[1]))
    text = resources.files("schemas").joinpath(name).read_text(encoding="utf-8")
    value: Schema = json.loads(text)
    return value


def _of_version(version: int) -> Schema:
    """The schema of an older version of a submission: the fields that say `since` are later."""

    def older(node: Schema) -> Schema:
        if not isinstance(node.get("properties"), dict):
            return node
        fields = {
            name: field
            for name, field in node["properties"].items()
            if field.get("since", version) <= version
        }
        return node | {"properties": fields}

    text = json.dumps(schema(SUBMISSION_SCHEMA))
    found: Schema = json.loads(text, object_hook=older)
    found["$id"] = f"draftmap:submission.v{version}"
    found["properties"]["version"] |= {"const": version, "examples": [version]}
    return found


def accepts(document: Json, name: str) -> bool:
    """Whether a document fits a schema, quickly, except that 1.0 passes for an integer."""
    return _quick(name).is_valid(document)


@cache
def _quick(name: str) -> jsonschema_rs.Draft202012Validator:
    return in_rust(schema(name), {})


def in_rust(root: Schema, keywords: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """The quick validator of a schema, with our formats and with keywords of our own."""
    return jsonschema_rs.Draft202012Validator(
        root,
        formats={name: _conforms(name) for name in FORMATS},
        validate_formats=True,
        keywords=keywords,
    )


def _conforms(name: str) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        try:
            FORMATS[name](value)
        except ValueError:
            return False
        return True

    return check
