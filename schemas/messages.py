"""How is a schema violation said in the reader's words? What is wrong, what was expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, cast

from jsonschema.exceptions import ValidationError

from schemas.finding import ROOT, Finding, child_path, nearest, shown


def findings_of(error: ValidationError) -> Iterator[Finding]:
    """The findings that one violation of the schema stands for, one per missing or extra field."""
    # Any: jsonschema fills these in before it hands out an error, but types them as maybe unset.
    instance, schema, wanted = cast("tuple[Any, Any, Any]", _parts(error))
    path = json_path(error.absolute_path)
    keyword = str(error.validator)
    if keyword == "additionalProperties":
        for name in sorted(instance.keys() - schema.get("properties", {}).keys()):
            yield _finding(path, _unknown_field(name, instance, schema), keyword)
        return
    if keyword == "required":
        # jsonschema reports each missing field as an error of its own, which begins with its name.
        name = next(name for name in wanted if error.message.startswith(repr(name)))
        yield _finding(path, f"the field {shown(name)} is missing; add it", keyword)
        return
    say = _SENTENCES.get(keyword, _other)
    yield _finding(path, say(shown(instance), wanted), keyword)


def _unknown_field(name: str, instance: Any, schema: Any) -> str:  # noqa: ANN401 - JSON values
    free = schema.get("properties", {}).keys() - instance.keys()
    hint = nearest(name, free)
    return f"unknown field {shown(name)}{hint}; {'rename or ' if hint else ''}remove it"


def json_path(steps: Iterable[str | int]) -> str:
    """A JSON path such as `$.trials[3].decode_ms` from a sequence of keys and indices."""
    return reduce(child_path, steps, ROOT)


def _parts(error: ValidationError) -> tuple[object, object, object]:
    return error.instance, error.schema, error.validator_value


def _finding(path: str, message: str, keyword: str) -> Finding:
    return Finding(path=path, message=message, rule=f"schema-{keyword}")


def _enum(got: str, want: object) -> str:
    """`got` is JSON text, so that its quotes are those of the document."""
    values = cast("list[str]", want)
    hint = nearest(got.strip('"'), values) if got.startswith('"') else ""
    listed = ", ".join(map(shown, values))
    return f"{got} is not accepted{hint}, expected one of {listed}"


def _pattern(got: str, want: object) -> str:
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
    "pattern": _pattern,
    "format": lambda got, want: f"{got} is no valid {want}; correct it to one of the calendar",
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
