"""Load the schemas, and check documents against them; each violation becomes a finding in words.

The validators are strict where JSON Schema leaves a choice: 1.0 is not an integer, `$` in a pattern
is the end of the text and never the place before a final newline, and a date must exist.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from functools import cache, partial, reduce
from importlib import resources
from typing import Any, cast

from jsonschema_rs import Draft202012Validator as Validator
from jsonschema_rs import ValidationError, ValidationErrorKind

from schemas.codec import Json
from schemas.finding import ROOT, Finding, bounded, child_path, nearest, shown

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


def schema_findings(document: Json, name: str) -> tuple[Finding, ...]:
    """A document's violations of a schema, sorted by place."""
    return bounded(
        finding
        for error in strict(name).iter_errors(document)
        for finding in _findings_of(error, schema(name))
    )


def _findings_of(error: ValidationError, root: Schema) -> Iterator[Finding]:
    """The findings of one violation, one for each missing or extra field."""
    # The validator turns every exception in a keyword of this project into an error. Ctrl-C at that
    # moment, which the keyword itself did not raise, is raised again.
    if error.__cause__ is not None and not isinstance(error.__cause__, NotWholeError):
        raise error.__cause__
    path = reduce(child_path, error.instance_path, ROOT)
    # `Any`, because a schema may have any JSON structure.
    own: Any = reduce(lambda node, step: node[step], error.schema_path[:-1], cast("Any", root))
    keyword = "type" if error.kind.name == WHOLE else error.kind.name
    match error.kind:
        case ValidationErrorKind.AdditionalProperties(unexpected):
            known = own.get("properties", {}).keys() - cast("Schema", error.instance).keys()
            hints = ((shown(name), nearest(name, known)) for name in sorted(unexpected))
            messages = [
                f"unknown field {name}{hint}; {'rename or ' if hint else ''}remove it"
                for name, hint in hints
            ]
        case ValidationErrorKind.Required(name):
            messages = [f"the field {shown(name)} is missing; add it"]
        case _ if keyword in _SENTENCES:
            want = own.get("form", own[keyword]) if keyword == "pattern" else own[keyword]
            messages = [_SENTENCES[keyword](shown(error.instance), want)]
        case _:
            messages = [f"{shown(error.instance)} does not fit the schema ({shown(own[keyword])})"]
    for message in messages:
        yield Finding(path=path, message=message, rule=f"schema-{keyword}")


def _enum(got: str, want: object) -> str:
    """The message that lists the accepted values; `got` is the refused value as JSON."""
    values = cast("list[str]", want)
    hint = nearest(got.strip('"'), values) if got.startswith('"') else ""
    listed = ", ".join(map(shown, values))
    return f"{got} is not accepted{hint}, expected one of {listed}"


def _const(got: str, want: object) -> str:
    # Only the versions of formats are numbers.
    is_newer = isinstance(want, int) and got.isdecimal() and int(got) > want
    hint = "; a newer Draftmap wrote it, so update this one" if is_newer else ""
    return f"{got} is not accepted, expected {shown(want)}{hint}"


def _type(got: str, want: object) -> str:
    fractional = want == "integer" and got[-1].isdigit()
    hint = "; write it without a decimal point or exponent" if fractional else ""
    return f"{got} has the wrong type, expected {want}{hint}"


_SENTENCES: dict[str, Callable[[str, object], str]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "pattern": lambda got, want: f"{got} has the wrong form, expected {want}",
    "format": lambda got, want: (
        f"{got} is not a valid {want}; give a date that exists in the calendar"
    ),
    "minimum": lambda got, want: f"{got} is too small, expected at least {want}; {_CHECK}",
    "maximum": lambda got, want: f"{got} is too large, expected at most {want}; {_CHECK}",
    "minLength": lambda got, want: f"{got} is too short, expected at least {want} characters",
    "maxLength": lambda got, want: f"{got} is too long, expected at most {want} characters",
    "minItems": lambda got, want: f"{got} is too short, expected at least {want}; add the rest",
    "maxItems": lambda got, want: f"{got} is too long, expected at most {want}; split the run",
}
_CHECK = "check the number and its unit"
