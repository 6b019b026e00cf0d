"""Read the given files as one format, with a hint about the right one if it is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.errors import BadInputError
from harness.importers import IMPORTERS
from harness.importers.files import Given
from harness.importers.hints import other_format
from harness.importers.json_object import unread
from harness.importers.records import ParsedFiles

_MOST_NAMES, _LONGEST_NAME = 24, 40


def read(form: str, files: Sequence[Given]) -> ParsedFiles:
    """What the files say. Raises `BadInputError`, with the format they seem to have instead."""
    _require_different(files)
    try:
        parsed = IMPORTERS[form].read(files)
    except BadInputError as error:
        hint = next(
            (found for file in files if (found := other_format(form, file)) is not None), None
        )
        if hint is None:
            raise
        message = f"{error}. {hint}"
        raise BadInputError(message) from error
    return replace(parsed, left_out=(*parsed.left_out, *_unread(files)))


def _unread(files: Sequence[Given]) -> Iterator[str]:
    """What the files hold and nothing asked for, a line for each file."""
    for file in files:
        names = [name for name in unread(file) if name]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            shown = ", ".join(name[:_LONGEST_NAME] for name in names[:_MOST_NAMES])
            yield f"{file.name}: fields that no result has: {shown}{more}"


def _require_different(files: Sequence[Given]) -> None:
    """The same bytes twice are a slip: a run compared with itself, or counted as two."""
    seen: dict[bytes, str] = {}
    for file in files:
        if file.data in seen:
            message = f"{file.name}: the same records as {seen[file.data]}; give each run once"
            raise BadInputError(message)
        seen[file.data] = file.name
