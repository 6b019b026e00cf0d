"""Load the schemas, and make their validators.

The validators are strict where JSON Schema leaves a choice: 1.0 is not an integer, `$` in a pattern
is the end of the text and never the place before a final newline, and a date must exist.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache, partial
from importlib import resources
from typing import Any

from jsonschema_rs import Draft202012Validator as Validator

SUBMISSION_SCHEMA = "submission.v2.schema.json"
SUBMISSION_V1 = "submission.v1"  # no file: the newest version without later fields
OLDER = re.compile(r"submission\.v(\d+)")
PUBLISHED_SCHEMA = "published.v1.schema.json"
LIFECYCLE_SCHEMA = "lifecycle.v1.schema.json"
VERDICT_SCHEMA = "verdict.v1.schema.json"
SOURCES_SCHEMA = "sources.v1.schema.json"

WHOLE = "whole"  # a keyword of this project
Schema = dict[str, Any]  # any JSON structure
_FORMATS: Mapping[str, Callable[[str], object]] = {
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
    """The schema for an older version of a submission, without fields that have a later `since`."""

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


def resolved(node: Mapping[str, Any], root: Mapping[str, Any]) -> Schema:
    """A part of the schema `root` with its reference resolved; keys next to `$ref` override it."""
    if "$ref" not in node:
        return dict(node)
    target = root
    for part in node["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**resolved(target, root), **{k: v for k, v in node.items() if k != "$ref"}}


@cache
def strict(name: str) -> Validator:
    return strict_validator(schema(name))


def strict_validator(root: Schema) -> Validator:
    """The strict validator for a schema that is given as a value."""
    marked = json.loads(
        json.dumps(root),
        object_hook=lambda node: node | {WHOLE: True} if node.get("type") == "integer" else node,
    )
    return Validator(
        marked,
        formats={name: partial(_conforms, parse) for name, parse in _FORMATS.items()},
        validate_formats=True,
        keywords={WHOLE: _Whole},
    )


class NotWholeError(ValueError):
    """A number is written as 1.0 where the format has an integer."""


class _Whole:
    """The keyword `whole`, which refuses 1.0; the type `integer` accepts 1.0 and refuses 1.5."""

    def __init__(self, *_schema: object) -> None:
        pass

    def validate(self, instance: object) -> None:
        if isinstance(instance, float) and instance.is_integer():
            raise NotWholeError


def _conforms(parse: Callable[[str], object], value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True
