"""How does a JSON document become a dataclass, and back?

Only for documents that the contract has accepted: the schema has already checked every type, so
the decoder trusts what it sees and only chooses the right class.
"""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from _typeshed import DataclassInstance

    # Any: a reader trusts the contract for the type of what it is given.
    Reader = Callable[[Any], object]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
T = TypeVar("T")


def decode(cls: type[T], document: Json) -> T:
    """Build `cls` from an accepted JSON document. Raises `KeyError` or `TypeError` on any other."""
    value = _reader(cls)(document)  # type: ignore[arg-type]  # a class is hashable, mypy thinks of protocols
    if isinstance(value, cls):
        return value
    message = f"{cls.__name__} is no dataclass"
    raise TypeError(message)


def encode(value: object) -> Json:
    """Turn a dataclass into JSON values; fields that are `None` are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode_fields(value)
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    message = f"cannot encode {type(value).__name__}"
    raise TypeError(message)


def _encode_fields(value: DataclassInstance) -> Json:
    pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    return {name: encode(item) for name, item in pairs if item is not None}


@cache
def _reader(hint: object) -> Reader:
    """The function that turns a JSON value into a value of this type; built once per type."""
    origin = get_origin(hint)
    if origin is tuple:
        read_item = _reader(get_args(hint)[0])
        return tuple if read_item is _unchanged else lambda value: tuple(map(read_item, value))
    if origin in (Union, types.UnionType):
        return _union_reader(hint)
    if hint is float:
        return float
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _object_reader(hint)
    return _unchanged


def _unchanged(value: object) -> object:
    return value


def _object_reader(cls: type) -> Reader:
    readers = {name: _reader(hint) for name, hint in get_type_hints(cls).items()}
    changing = {name: read for name, read in readers.items() if read is not _unchanged}

    def read(value: dict[str, Json]) -> object:
        changed = {key: changing[key](value[key]) for key in value.keys() & changing.keys()}
        return cls(**(value | changed))

    return read


def _union_reader(hint: object) -> Reader:
    """Of the only member beside `None`, or of the dataclass that has this `type`."""
    members = [member for member in get_args(hint) if member is not types.NoneType]
    if len(members) == 1:
        return _reader(members[0])
    by_type = {
        kind: _reader(member)
        for member in members
        for kind in get_args(get_type_hints(member)["type"])
    }
    return lambda value: by_type[value["type"]](value)
