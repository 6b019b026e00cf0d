"""How are the given files read as one format? With a word about the right one if it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.importers import IMPORTERS
from harness.importers.signs import looks_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.importers.model import Reading
    from harness.importers.source import Given


def read(form: str, files: Sequence[Given]) -> Reading:
    """What the files say. Raises `BadInputError`, with the format they seem to have instead."""
    _require_different(files)
    try:
        return IMPORTERS[form](files)
    except BadInputError as error:
        hint = next((found for file in files if (found := _other(form, file)) is not None), None)
        if hint is None:
            raise
        message = f"{error}. {hint}"
        raise BadInputError(message) from error


def _other(form: str, file: Given) -> str | None:
    found = looks_like(file)
    if found is None or found == form:
        return None
    if found in IMPORTERS:
        return f"{file.name} looks like a file of {found}: --from {found}"
    return f"{file.name} looks like {found}"


def _require_different(files: Sequence[Given]) -> None:
    """The same bytes twice are a slip: a run compared with itself, or counted as two."""
    seen: dict[bytes, str] = {}
    for file in files:
        if file.data in seen:
            message = f"{file.name}: the same records as {seen[file.data]}; give each run once"
            raise BadInputError(message)
        seen[file.data] = file.name
