"""The leaves of a JSON document, and the document with one of them changed."""

import copy
import re
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]


def leaves(document: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:  # noqa: ANN401 - any JSON value
    """Every value that is neither object nor list, with the keys and indices that lead to it."""
    if isinstance(document, dict):
        for key, entry in document.items():
            yield from leaves(entry, (*path, key))
    elif isinstance(document, list):
        for index, entry in enumerate(document):
            yield from leaves(entry, (*path, index))
    else:
        yield path, document


def with_value(document: Any, path: Path, value: object) -> Any:  # noqa: ANN401 - any JSON value
    """A copy with another value at this place."""
    changed = copy.deepcopy(document)
    _holder(changed, path)[path[-1]] = value
    return changed


def without(document: Any, path: Path) -> Any:  # noqa: ANN401 - any JSON value
    """A copy without this place."""
    changed = copy.deepcopy(document)
    del _holder(changed, path)[path[-1]]
    return changed


def general(path: Path) -> str:
    """The path without its indices: `trials[].decode_ms`."""
    text = "".join("[]" if isinstance(step, int) else f".{step}" for step in path)
    return re.sub(r"^\.", "", text)


def _holder(document: Any, path: Path) -> Any:  # noqa: ANN401 - an object or a list
    for step in path[:-1]:
        document = document[step]
    return document
