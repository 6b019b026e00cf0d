"""How are the given files read as one format? With a word about the right one if it is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.errors import BadInputError
from harness.importers import IMPORTERS
from harness.importers.entries import Entry, lines, unread
from harness.importers.model import Given, Reading, text

_MOST_NAMES, _LONGEST_NAME = 24, 40
_OWN = frozenset({"format", "version", "trials", "arms"})
_STARTS = {
    "build_commit,": "llama-bench's CSV, which lacks the repetitions: run it with -o json",
    "| model": "llama-bench's table, which lacks the repetitions: run it with -o json",
    "data: {": "a stream of chunks: ask for answers without streaming",
    "| task ": "llama-spec-bench",
}
_LOG_OF_LLAMA_SERVER = "prompt eval time ="


def looks_like(file: Given) -> str | None:
    """The name of a format, a description of what cannot be read, or `None`."""
    try:
        start = text(file).lstrip()
        if _LOG_OF_LLAMA_SERVER in start:
            return "llama-server"
        for sign, meaning in _STARTS.items():
            if start.startswith(sign):
                return meaning
        row = next(iter(lines(file)), None)
    except BadInputError:
        return None
    return None if row is None else _of_row(row)


def _of_row(row: Entry) -> str | None:
    keys = row.value.keys()
    if keys >= _OWN:
        return "a result of this project, which needs no import"
    found = (name for name, each in IMPORTERS.items() if any(s <= keys for s in each.signs))
    return next(found, None)


def read(form: str, files: Sequence[Given]) -> Reading:
    """What the files say. Raises `BadInputError`, with the format they seem to have instead."""
    _require_different(files)
    try:
        reading = IMPORTERS[form].read(files)
    except BadInputError as error:
        hint = next((found for file in files if (found := _other(form, file)) is not None), None)
        if hint is None:
            raise
        message = f"{error}. {hint}"
        raise BadInputError(message) from error
    return replace(reading, left_out=(*reading.left_out, *_unread(files)))


def _unread(files: Sequence[Given]) -> Iterator[str]:
    """What the files hold and nothing asked for, a line for each file."""
    for file in files:
        names = [name for name in unread(file) if name]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            shown = ", ".join(name[:_LONGEST_NAME] for name in names[:_MOST_NAMES])
            yield f"{file.name}: fields that no result has: {shown}{more}"


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
