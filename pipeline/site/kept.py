"""What an earlier build made of the same values by the same code is not made again.

A folder holds it under a digest of both. It is a product of builds: one without it makes the same.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec

import estimates
import pipeline
import schemas
from pipeline.collection.corpus import code_digest

DIGEST = 16  # bytes
LIBRARIES = ("altair", "jinja2", "vl-convert-python")
_MEMORY: ContextVar[tuple[Path, set[Path]] | None] = ContextVar("kept", default=None)


@contextmanager
def remembered(folder: Path | None) -> Iterator[None]:
    """Look into this folder first; without one, everything is made.

    What this build did not ask for is removed.
    """
    if folder is None:
        yield
        return
    used: set[Path] = set()
    token = _MEMORY.set((folder, used))
    try:
        yield
    finally:
        _MEMORY.reset(token)
    for path in set(folder.glob("*")) - used:
        path.unlink()


def kept(make: Callable[[], bytes], values: object) -> bytes:
    """What `make` makes of these values, which are all that it depends on besides the code."""
    found = recall(values)
    if found is None:
        found = make()
        keep(values, found)
    return found


def recall(values: object) -> bytes | None:
    """What was kept of these values, whole and as it was made."""
    if (path := _place(values)) is None:
        return None
    with suppress(OSError):
        found = path.read_bytes()
        if found[:DIGEST] == _digest(found[DIGEST:]):
            return found[DIGEST:]
    return None


def keep(values: object, made: bytes) -> None:
    """Keep what was made of these values, if there is a folder for it."""
    if (path := _place(values)) is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_digest(made) + made)


def _place(values: object) -> Path | None:
    memory = _MEMORY.get()
    if memory is None:
        return None
    folder, used = memory
    path = folder / _digest(_version() + msgspec.json.encode(values)).hex()
    used.add(path)
    return path


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:DIGEST]


@cache
def _version() -> bytes:
    """One digest of the code and the libraries that draw and print."""
    libraries = [metadata.version(name) for name in LIBRARIES]
    roots = [Path(next(iter(each.__path__))) for each in (estimates, pipeline, schemas)]
    return (code_digest(roots) + " ".join(libraries)).encode()
