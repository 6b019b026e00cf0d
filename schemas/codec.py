"""Turn JSON values into typed ones, and back. Absent is `None`; `None` is left out."""

from typing import TypeAlias, TypeVar, cast

import msgspec

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
T = TypeVar("T")


def decode(cls: type[T], document: Json) -> T:
    """Build `cls` from JSON values. Raises `msgspec.ValidationError`, which names the place.

    Strict: 1.0 is no integer and "1" is no number; an integer may stand for a float.
    """
    return msgspec.convert(document, cls)


def encode(value: object) -> Json:
    """Turn a typed value into JSON values. Raises `TypeError` for what JSON cannot hold."""
    return cast("Json", _without_none(msgspec.to_builtins(value)))


def _without_none(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
