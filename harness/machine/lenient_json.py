"""Read JSON leniently: accept missing objects, an object as a list, a string as a number."""

import re
from collections.abc import Mapping

import orjson

from schemas.codec import Json

_LONGEST = 120
_FORBIDDEN = re.compile(r"[\x00-\x1f<>]")


def parsed_object(text: str) -> Mapping[str, Json]:
    """Return the first object in a JSON document; `{}` if the document has no object."""
    try:
        # PowerShell begins its output with a byte-order mark on some systems.
        return next(iter(objects(orjson.loads(text.lstrip("\ufeff")))), {})
    except orjson.JSONDecodeError:
        return {}


def objects(value: Json, *, depth: int = 3) -> list[Mapping[str, Json]]:
    """Return the objects in a list and its inner lists; an object counts as a list of one."""
    if isinstance(value, dict):
        return [value]
    found = value if isinstance(value, list) and depth else []
    return [inner for each in found for inner in objects(each, depth=depth - 1)]


def part(value: object, *names: str) -> Mapping[str, Json]:
    """Return the object under nested names; an empty object if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def line(value: Json) -> str | None:
    """Return a string as one short line; `None` for an empty string and for other values."""
    text = _FORBIDDEN.sub(" ", value) if isinstance(value, str) else ""
    return " ".join(text.split())[:_LONGEST].strip() or None


def whole(value: Json, *, least: int = 1, most: int = 1_000_000) -> int | None:
    """Return a whole number within bounds, even if given as a string or as 8.0; else `None`."""
    try:
        number = float(value) if isinstance(value, int | float | str) else 0.0
    except (ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() and least <= number <= most else None
