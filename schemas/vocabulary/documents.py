"""Read the TOML files of the vocabulary into typed entries, and refuse unknown keys."""

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T", bound=Struct)


@cache
def document(name: str, package: str = "schemas.vocabulary") -> dict[str, Any]:
    """The tables in a package's file `<name>.toml`; the default package is the vocabulary.

    Each file is read once; callers must not change the tables.
    """
    file = resources.files(package).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text("utf-8"))


def entries(
    cls: type[T], name: str, tables: Mapping[str, Any], constants: Collection[str] = ()
) -> dict[str, T]:
    """The entries of a file, keyed by id; every key is an id, except those in `constants`."""
    return {
        key: read_entry(cls, f"{name}.{key}", {"id": key, **table})
        for key, table in tables.items()
        if key not in constants
    }


def read_entry(cls: type[T], place: str, table: Mapping[str, Any]) -> T:
    """Build an entry from a TOML table. Raises `ValueError` for unknown and missing keys."""
    try:
        return msgspec.convert(table, cls)
    except msgspec.ValidationError as error:
        raise ValueError(f"{place}: {error}") from error
