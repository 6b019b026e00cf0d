"""Check a document against its JSON Schema; each violation becomes a finding in plain words."""

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, cast

from jsonschema_rs import ValidationError, ValidationErrorKind

from schemas.codec import Json
from schemas.finding import ROOT, Finding, bounded, child_path, nearest, shown
from schemas.validator import WHOLE, NotWholeError, Schema, schema, strict


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
            messages = [_SENTENCES[keyword](shown(error.instance), own[keyword])]
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


def _type(got: str, want: object) -> str:
    fractional = want == "integer" and got[-1].isdigit()
    hint = "; write it without a decimal point or exponent" if fractional else ""
    return f"{got} has the wrong type, expected {want}{hint}"


_SENTENCES: dict[str, Callable[[str, object], str]] = {
    "type": _type,
    "const": lambda got, want: f"{got} is not accepted, expected {shown(want)}",
    "enum": _enum,
    "pattern": lambda got, want: (
        f"{got} has the wrong form, expected {_FORMS.get(str(want), want)}"
    ),
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
# The meanings of the patterns in the schemas.
_FORMS: dict[str, str] = {
    r"^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$": (
        "a time in UTC such as 2026-11-21T09:00:00Z"
    ),
    r"^[^\u0000-\u001f<>]+$": "one line of plain text without < and >",
    r"^[^\u0000-\u001f<>]*$": "one line of plain text without < and >",
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
