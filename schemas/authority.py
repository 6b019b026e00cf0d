"""Check a document against its JSON Schema; each violation becomes a finding in plain words.

Every finding comes from `jsonschema`. `jsonschema-rs`, a hundred times faster, is asked which
values fit a definition that the schema refers to.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from typing import Any, cast

import jsonschema_rs
from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
from jsonschema.protocols import Validator

from schemas.codec import Json
from schemas.finding import ROOT, Finding, bounded, child_path, nearest, shown
from schemas.validator import FORMATS, Schema, in_rust, schema

_Errors = Iterator[ValidationError]


def schema_findings(document: Json, name: str) -> tuple[Finding, ...]:
    """The violations of a schema, sorted by place."""
    errors = _authority(name).iter_errors(document)
    return bounded(finding for error in errors for finding in findings_of(error))


def validator(root: Schema) -> Validator:
    """The strict `jsonschema` validator of a schema whose references all point into itself."""
    definitions: dict[str, jsonschema_rs.Draft202012Validator] = {}

    def reference(parent: Validator, pointer: str, instance: Json, own: Schema) -> _Errors:
        if pointer not in definitions:
            target = {"$ref": pointer, "$defs": root.get("$defs", {})}
            definitions[pointer] = in_rust(_whole_integers(target), {"whole": _Whole})
        if not definitions[pointer].is_valid(instance):
            yield from _by_reference(parent, pointer, instance, own)

    made: Validator = validators.extend(  # type: ignore[no-untyped-call]  # the stubs leave it untyped
        _StrictValidator, validators={"$ref": reference}
    )(root, format_checker=_formats())
    return made


@cache
def _authority(name: str) -> Validator:
    return validator(schema(name))


def _whole_integers(root: Schema) -> Schema:
    """The same schema, with our keyword `whole` wherever the type is integer."""
    found: Schema = json.loads(
        json.dumps(root),
        object_hook=lambda node: node | {"whole": True} if node.get("type") == "integer" else node,
    )
    return found


class _Whole:
    """The keyword that refuses 1.0 for an integer."""

    def __init__(self, *_schema: object) -> None:
        pass

    def validate(self, instance: Json) -> None:
        if isinstance(instance, float):
            message = "no integer"
            raise ValueError(message)  # noqa: TRY004 - what jsonschema-rs takes for a violation


def _is_integer(_checker: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _pattern(_validator: Validator, pattern: str, instance: Json, _schema: Schema) -> _Errors:
    if isinstance(instance, str) and not _regex(pattern).search(instance):
        yield ValidationError(f"does not match {pattern}")


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name, parse in FORMATS.items():
        checker.checks(name, raises=ValueError)(partial(_parses, parse))
    return checker


def _parses(parse: Callable[[str], object], value: object) -> bool:
    return not isinstance(value, str) or bool(parse(value))


_by_reference = Draft202012Validator.VALIDATORS["$ref"]
_StrictValidator = validators.extend(  # type: ignore[no-untyped-call]  # the stubs leave it untyped
    Draft202012Validator,
    validators={"pattern": _pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def findings_of(error: ValidationError) -> Iterator[Finding]:
    """The findings that one violation of the schema stands for, one per missing or extra field."""
    # Any: jsonschema fills these in before it hands out an error, but types them as maybe unset.
    instance, own, want = cast(
        "tuple[Any, Any, Any]", (error.instance, error.schema, error.validator_value)
    )
    path = reduce(child_path, error.absolute_path, ROOT)
    keyword = str(error.validator)
    if keyword == "additionalProperties":
        for name in sorted(instance.keys() - own.get("properties", {}).keys()):
            yield _finding(path, _unknown_field(name, instance, own), keyword)
        return
    if keyword == "required":
        # jsonschema reports each missing field as an error of its own, which begins with its name.
        name = next(name for name in want if error.message.startswith(repr(name)))
        yield _finding(path, f"the field {shown(name)} is missing; add it", keyword)
        return
    sentence = _SENTENCES.get(keyword, _other)
    yield _finding(path, sentence(shown(instance), want), keyword)


def _unknown_field(name: str, instance: Schema, own: Schema) -> str:
    free = own.get("properties", {}).keys() - instance.keys()
    hint = nearest(name, free)
    return f"unknown field {shown(name)}{hint}; {'rename or ' if hint else ''}remove it"


def _finding(path: str, message: str, keyword: str) -> Finding:
    return Finding(path=path, message=message, rule=f"schema-{keyword}")


def _enum(got: str, want: object) -> str:
    """`got` is JSON text, so that its quotes are those of the document."""
    values = cast("list[str]", want)
    hint = nearest(got.strip('"'), values) if got.startswith('"') else ""
    listed = ", ".join(map(shown, values))
    return f"{got} is not accepted{hint}, expected one of {listed}"


def _form(got: str, want: object) -> str:
    form = _FORMS.get(str(want))
    return f"{got} has the wrong form, expected {form or want}"


def _type(got: str, want: object) -> str:
    fractional = want == "integer" and got[-1].isdigit()
    hint = "; write it without a decimal point or exponent" if fractional else ""
    return f"{got} has the wrong type, expected {want}{hint}"


def _other(got: str, expected: object) -> str:
    return f"{got} does not fit the schema ({shown(expected)})"


_SENTENCES: dict[str, Callable[[str, object], str]] = {
    "type": _type,
    "const": lambda got, want: f"{got} is not accepted, expected {shown(want)}",
    "enum": _enum,
    "pattern": _form,
    "format": lambda got, want: (
        f"{got} is not a valid {want}; give one that exists in the calendar"
    ),
    "minimum": lambda got, want: f"{got} is too small, expected at least {want}; {_CHECK}",
    "maximum": lambda got, want: f"{got} is too large, expected at most {want}; {_CHECK}",
    "minLength": lambda got, want: f"{got} is too short, expected at least {want} characters",
    "maxLength": lambda got, want: f"{got} is too long, expected at most {want} characters",
    "minItems": lambda got, want: f"{got} is too short, expected at least {want}; add the rest",
    "maxItems": lambda got, want: f"{got} is too long, expected at most {want}; split the run",
}
_CHECK = "check the number and its unit"
# What the patterns of the schemas mean.
_FORMS = {
    r"^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$": (
        "a time in UTC such as 2026-11-21T09:00:00Z"
    ),
    r"^[^\u0000-\u001f<>]+$": "plain text without < and > on one line",
    r"^[^\u0000-\u001f<>]*$": "plain text without < and > on one line",
    r"^[^\u0000-\u001f]+$": "text on one line",
    r"^[a-z0-9](?:-?[a-z0-9]){1,23}$": "lower-case letters and digits, such as qnn",
    r"^[0-9a-f]{16}$": "16 hex digits in lower case",
    r"^[0-9a-f]{64}$": "a SHA-256: 64 hex digits in lower case",
    r"^[0-9a-f]{7,40}$": "a commit: 7 to 40 hex digits in lower case",
    r"^[0-9]+\.[0-9]+\.[0-9]+$": "a version such as 1.0.0",
    r"^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$": (
        "an id: lower-case letters, digits, dots, hyphens and underscores, such as q4-k-m"
    ),
    r"^[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?$": (
        "a user name: letters, digits and single hyphens between them"
    ),
    r"^[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9][A-Za-z0-9_.-]*$": ("a repository such as owner/name"),
}
