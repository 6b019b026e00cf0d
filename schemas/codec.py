"""How does a JSON document become a dataclass, and back?

Only for documents that the contract has accepted: the schema has already checked every type, so
the decoder trusts what it sees and only chooses the right class.
"""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
T = TypeVar("T")


def decode(cls: type[T], document: Json) -> T:
    """Build `cls` from an accepted JSON document. Raises `KeyError` or `TypeError` on any other."""
    return _decode(cls, document)  # type: ignore[no-any-return]


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
def _hints(cls: type) -> dict[str, object]:
    return get_type_hints(cls)


def _decode(hint: object, value: object) -> object:
    origin = get_origin(hint)
    if value is None or origin is Literal:
        return value
    if origin is tuple:
        (item, _) = get_args(hint)
        return tuple(_decode(item, entry) for entry in value)  # type: ignore[attr-defined]
    if origin in (Union, types.UnionType):
        return _decode(_member(hint, value), value)
    if hint is float:
        return float(value)  # type: ignore[arg-type]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = _hints(hint)
        return hint(**{key: _decode(hints[key], entry) for key, entry in value.items()})  # type: ignore[attr-defined]
    return value


def _member(hint: object, value: object) -> object:
    """The member of a union that fits: the only one beside `None`, or the one with this `type`."""
    members = [member for member in get_args(hint) if member is not types.NoneType]
    if len(members) == 1:
        return members[0]
    kind = value["type"]  # type: ignore[index]
    for member in members:
        if kind in get_args(_hints(member)["type"]):
            return member
    message = f"no dataclass for type {kind!r}"
    raise TypeError(message)
