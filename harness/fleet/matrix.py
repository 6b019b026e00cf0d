"""Read `matrix.toml`: targets x methods x backends x rigs, of which each is one `run`."""

import hashlib
import itertools
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from harness import __version__
from harness.errors import BadInputError, suggestion, unreadable
from schemas.rig import Backend

_MEMORY = "memory-gib"
# Options of `run` that the fleet sets itself for every cell.
_DECIDED = {"output", "resume", "json", "dry-run", "method", "target"}

OptionTable = dict[str, bool | int | float | str | list[str | int | float]]


class _MatrixFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    targets: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    methods: tuple[str | list[str], ...] = ()
    backends: tuple[Backend, ...] = ()
    rigs: tuple[str, ...] = ()
    attempts: Annotated[int, msgspec.Meta(ge=1)] = 3
    options: OptionTable = {}
    target: dict[str, OptionTable] = {}
    backend: dict[str, OptionTable] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRun:
    """One cell of the matrix: a `run`, and the resources that its worker must offer."""

    id: str
    arguments: tuple[str, ...]
    needs: Mapping[str, float]
    attempts: int


def read(path: Path, known: Collection[str]) -> tuple[MatrixRun, ...]:
    """Read the cells of a matrix file; `known` are the options of `run`. Raises `BadInputError`."""
    try:
        file = _converted(tomllib.loads(path.read_text("utf-8")))
        _check(file, known)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, BadInputError) as error:
        raise BadInputError(f"{path}: {error}") from error
    return tuple(_runs(file))


def _converted(table: Mapping[str, object]) -> _MatrixFile:
    for name in ("target", "backend"):
        if not isinstance(table.get(name, {}), dict):
            raise BadInputError(f"{name} has options by {name}; the list of them is {name}s")
    return msgspec.convert(table, _MatrixFile)


def _check(file: _MatrixFile, known: Collection[str]) -> None:
    """Raise `BadInputError` for options of an unlisted target or backend, or unsuitable options."""
    if unused := {*file.target} - {*file.targets} | {*file.backend} - {*file.backends}:
        raise BadInputError(
            f"there are options for {min(unused)}, but no list in the matrix contains that name"
        )
    for name in itertools.chain(file.options, *file.target.values(), *file.backend.values()):
        if name in _DECIDED or name not in {*known, _MEMORY}:
            raise BadInputError(
                f"{name}: not an option for cells.{suggestion(name, {*known} - _DECIDED)}"
            )


def _runs(file: _MatrixFile) -> Iterator[MatrixRun]:
    for target, entry, backend, rig in itertools.product(
        file.targets, file.methods or ([],), file.backends or (None,), file.rigs or (None,)
    ):
        methods = [entry] if isinstance(entry, str) else entry
        options = file.options | file.target.get(target, {}) | file.backend.get(backend or "", {})
        memory_gib = options.pop(_MEMORY, 0)
        words = {"target": target, "method": methods, **options}
        arguments = tuple(word for name in words for word in _words(f"--{name}", words[name]))
        digest = hashlib.sha256("\0".join([*arguments, f"{backend}", f"{rig}"]).encode())
        slug = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join([target.rpartition("/")[2], *methods]))
        needs = {"device": 1.0, f"draftmap-{__version__}": 1.0}
        needs |= {f"rig-{rig}": 1.0} if rig else {}
        needs |= {f"backend-{backend}": 1.0} if backend else {}
        needs |= {_MEMORY: msgspec.convert(memory_gib, float)} if memory_gib else {}
        run_id = f"{slug[:80]}-{digest.hexdigest()[:8]}"
        yield MatrixRun(id=run_id, arguments=arguments, needs=needs, attempts=file.attempts)


def _words(flag: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [flag] if value else []
    values = value if isinstance(value, list) else [value]
    return [word for each in values for word in (flag, str(each))]
