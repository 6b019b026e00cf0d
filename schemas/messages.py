"""How is a schema violation said in the reader's words? What is wrong, what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from schemas.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema.exceptions import ValidationError

_SHOWN_CHARACTERS = 60
_SHOWN_CHOICES = 12


def findings_of(error: ValidationError) -> Iterator[Finding]:
    """The findings that one violation of the schema stands for, one per missing or extra field."""
    path = json_path(error.absolute_path)
    keyword = str(error.validator)
    if keyword == "additionalProperties":
        known = set(error.schema.get("properties", {}))
        for name in sorted(set(error.instance) - known):
            yield _finding(path, f"unknown field {_shown(name)}; remove it", keyword)
        return
    if keyword == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        # jsonschema reports each missing field as an error of its own; this one names one of them.
        name = next(name for name in missing if error.message.startswith(repr(name)))
        yield _finding(path, f"the field {_shown(name)} is missing; add it", keyword)
        return
    say = _SENTENCES.get(keyword, _other)
    yield _finding(path, say(_shown(error.instance), error.validator_value), keyword)


def json_path(parts: object) -> str:
    """A JSON path such as `$.trials[3].decode_ms` from a sequence of keys and indices."""
    steps = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)  # type: ignore[attr-defined]
    return "$" + "".join(steps)


def _finding(path: str, message: str, keyword: str) -> Finding:
    return Finding(path=path, message=message, rule=f"schema-{keyword}")


def _shown(value: object) -> str:
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _choices(values: list[object]) -> str:
    shown = ", ".join(_shown(value) for value in values[:_SHOWN_CHOICES])
    return shown + (", …" if len(values) > _SHOWN_CHOICES else "")


def _other(got: str, expected: object) -> str:
    return f"{got} does not fit the schema ({_shown(expected)})"


_SENTENCES: dict[str, Callable[[str, object], str]] = {
    "type": lambda got, want: f"{got} has the wrong type, expected {want}",
    "const": lambda got, want: f"{got} is not accepted, expected {_shown(want)}",
    "enum": lambda got, want: f"{got} is not accepted, expected one of {_choices(want)}",  # type: ignore[arg-type]
    "pattern": lambda got, want: f"{got} has the wrong form, expected {want}",
    "format": lambda got, want: f"{got} is no valid {want}",
    "minimum": lambda got, want: f"{got} is too small, expected at least {want}",
    "maximum": lambda got, want: f"{got} is too large, expected at most {want}",
    "minLength": lambda got, want: f"{got} is too short, expected at least {want} characters",
    "maxLength": lambda got, want: f"{got} is too long, expected at most {want} characters",
    "minItems": lambda got, want: f"{got} has too few entries, expected at least {want}",
    "maxItems": lambda got, want: f"{got} has too many entries, expected at most {want}",
}
