"""Find model answers in JSON, with their token counts and times.

`schemas/vocabulary/server_log.toml` describes the known forms of answers.
"""

from collections.abc import Iterator

from harness.imports.json_object import JsonObject
from harness.imports.names import finish_of
from harness.imports.printed import ANSWERS, Form, Found

_DEEPEST = 4  # maximum depth of objects around an answer
_COUNTS = ("tokens", "prompt_tokens", "cached", "drafted", "accepted", "rounds", "at_once")


def answers(row: JsonObject, depth: int = 0) -> Iterator[Found]:
    """Yield the model answers in a JSON value: the value itself, or objects nested in it."""
    form = next((form for form in ANSWERS if _is_of(row, form)), None)
    if form is not None:
        figures: dict[str, str | float] = {
            name: value
            for name, paths in form.figures.items()
            for path in reversed(paths.split())
            if (value := _value(row, name, path)) is not None
        }
        yield Found(form=form, place=row.place, figures=figures, finish=finish_of(row))
    elif depth < _DEEPEST:
        for inner in _inside(row):
            yield from answers(inner, depth + 1)


def _inside(row: JsonObject) -> Iterator[JsonObject]:
    """Yield the objects in a JSON value, and those in its lists."""
    for key, value in row.fields.items():
        if isinstance(value, dict):
            yield row.required(key)
        elif isinstance(value, list) and not row.is_list:
            yield from _inside(row.elements(key))


def _is_of(row: JsonObject, form: Form) -> bool:
    is_other = form.unless is not None and row.fields.get(form.unless)
    return not is_other and all(_holder(row, path) is not None for path in form.needs)


def _holder(row: JsonObject, path: str) -> tuple[JsonObject, str] | None:
    """Return the innermost object on a dotted path, and the last key; `None` without a value."""
    *outer, key = path.split(".")
    for name in outer:
        if not isinstance(row.fields.get(name), dict):
            return None
        row = row.required(name)
    return None if row.fields.get(key) is None else (row, key)


def _value(row: JsonObject, name: str, path: str) -> float | None:
    """Return the number at a path in an answer. Raises `BadInputError` if a count is not whole."""
    found = _holder(row, path)
    if found is None:
        return None
    holder, key = found
    return holder.count(key) if name in _COUNTS else holder.number(key)
