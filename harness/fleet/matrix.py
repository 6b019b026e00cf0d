"""Reads `matrix.toml`: targets x methods x backends, each combination a cell of one `run`."""

import hashlib
import itertools
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from harness.errors import BadInputError, suggestion, unreadable
from harness.fleet.placement import Cell, Device
from harness.runners.backends import Backend

_TOP = {"targets", "methods", "backends", "rigs", "attempts", "options", "target", "backend",
        "rig", "skip"}  # fmt: skip
_AXES = ("target", "method", "backend", "rig")
# What a fleet decides itself for every cell.
_DECIDED = {"output", "resume", "json", "dry-run", "details", "method", "target"}
_NEEDS = "memory-gib"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_MOST_CELLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The cells, how often each is tried, and the devices that the file names for a plan."""

    cells: tuple[Cell, ...]
    attempts: int = 3
    devices: tuple[Device, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    """The tables of the file, and the names that options may have."""

    values: Mapping[str, Any]
    known: Collection[str] = field(default=())

    def table(self, *names: str) -> Mapping[str, Any]:
        """The table of that name, empty where there is none."""
        found: Any = self.values
        for name in names:
            found = found.get(name, {})
            _require(isinstance(found, Mapping), f"[{'.'.join(names)}] is a table")
        table: Mapping[str, Any] = found
        return table

    def names(self, axis: str) -> list[str]:
        """The list of texts of an axis."""
        given = self.values.get(axis, [])
        _require(_texts(given), f"{axis} is a list of texts")
        return list(given)

    def options(self, *names: str) -> list[str]:
        """The words that a table of options stands for."""
        words: list[str] = []
        for name, value in self.table(*names).items():
            if name == _NEEDS:
                continue
            where = f"[{'.'.join(names)}] {name}"
            _require(name not in _DECIDED, f"{where}: a fleet decides this for every cell")
            if name not in self.known:
                message = f"{where}: no option of `run`.{suggestion(name, self.known)}"
                raise BadInputError(message)
            words += _words(f"--{name}", value, where)
        return words


def read(path: Path, known: Collection[str]) -> Matrix:
    """The matrix in a file; `known` are the options of `run`. Raises `BadInputError`."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{path} is not TOML: {error}"
        raise BadInputError(message) from error
    try:
        return parse(values, known)
    except BadInputError as error:
        message = f"{path}: {error}"
        raise BadInputError(message) from error


def parse(values: Mapping[str, Any], known: Collection[str]) -> Matrix:
    """The matrix that the tables describe. Raises `BadInputError`."""
    for name in values:
        _require(name in _TOP, f"unknown key {name!r}.{suggestion(name, _TOP)}")
    file = _File(values, known)
    attempts = values.get("attempts", 3)
    _require(type(attempts) is int and attempts >= 1, "attempts is a whole number from 1")
    cells = tuple(_cells(file))
    _require(bool(cells), "no cell is left; name at least one of targets")
    _require(len(cells) <= _MOST_CELLS, f"more than {_MOST_CELLS} cells")
    twice = len(cells) - len({cell.id for cell in cells})
    _require(not twice, "two cells are the same; remove what stands twice")
    return Matrix(cells=cells, attempts=attempts, devices=tuple(_devices(file)))


def _cells(file: _File) -> Iterator[Cell]:
    targets = file.names("targets")
    methods = [_together(each) for each in file.values.get("methods", [])] or [()]
    backends: list[str | None] = [*file.names("backends")] or [None]
    rigs: list[str | None] = [*file.names("rigs")] or [None]
    _check_backends(each for each in backends if each)
    for name in ("target", "backend"):
        for key in file.table(name):
            _require(key in file.names(f"{name}s"), f"[{name}.{key}] is not one of {name}s")
    for target, together, backend, rig in itertools.product(targets, methods, backends, rigs):
        at = {"target": target, "method": " + ".join(together), "backend": backend, "rig": rig}
        if not any(_matches(each, at) for each in _skipped(file)):
            yield _cell(file, target, together, backend, rig)


def _cell(
    file: _File, target: str, methods: Sequence[str], backend: str | None, rig: str | None
) -> Cell:
    arguments = ["--target", target]
    for method in methods:
        arguments += ["--method", method]
    for names in (("options",), ("target", target), ("backend", backend or "")):
        arguments += file.options(*names)
    words = [target.rpartition("/")[2], *methods, backend or "", rig or ""]
    slug = "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", each).strip("-") for each in words if each)
    digest = hashlib.sha256("\0".join([*arguments, backend or "", rig or ""]).encode()).hexdigest()
    memory = file.table("target", target).get(_NEEDS, 0)
    _require(_is_number(memory), f"[target.{target}] {_NEEDS} is a number")
    return Cell(
        id=f"{slug[:80]}-{digest[:8]}",
        target=target,
        methods=tuple(methods),
        backend=backend,
        rig=rig,
        arguments=tuple(arguments),
        memory_gib=float(memory),
    )


def _devices(file: _File) -> Iterator[Device]:
    """The devices that the file says there are; only a plan looks at them."""
    for name, rig in file.table("rig").items():
        _require(_NAME.fullmatch(name) is not None, f"[rig.{name}]: letters, digits, - and _")
        extra = set(rig) - {"devices", "backends", _NEEDS} if isinstance(rig, Mapping) else {"?"}
        _require(not extra, f"[rig.{name}] has devices, backends and {_NEEDS} only")
        for key in ("devices", "backends"):
            _require(_texts(rig.get(key, [])), f"[rig.{name}] {key} is a list of texts")
        memory = rig.get(_NEEDS)
        _require(memory is None or _is_number(memory), f"[rig.{name}] {_NEEDS} is a number")
        for device in rig.get("devices", ["cpu"]):
            yield Device(
                rig=name,
                name=device,
                backends=tuple(rig.get("backends", ())) or None,
                memory_gib=memory,
            )


def _skipped(file: _File) -> list[Mapping[str, Any]]:
    given = file.values.get("skip", [])
    _require(isinstance(given, list), "skip is a list of tables: { target = …, backend = … }")
    for each in given:
        well = isinstance(each, Mapping) and each and set(each) <= set(_AXES)
        _require(bool(well), f"each entry of skip names some of {', '.join(_AXES)}")
    return list(given)


def _matches(entry: Mapping[str, Any], at: Mapping[str, str | None]) -> bool:
    return all(at[axis] == value for axis, value in entry.items())


def _check_backends(names: Iterator[str]) -> None:
    known = get_args(Backend)
    for name in names:
        if name not in known:
            message = f"backends: unknown backend {name!r}.{suggestion(name, known)}"
            raise BadInputError(message)


def _together(entry: object) -> tuple[str, ...]:
    """The methods that one cell measures: one text, or a list of them."""
    if isinstance(entry, str):
        return (entry,)
    _require(_texts(entry) and bool(entry), "methods holds texts, and lists of texts")
    return tuple(entry)  # type: ignore[arg-type]  # a list of texts, as was checked


def _words(flag: str, value: object, where: str) -> list[str]:
    match value:
        case bool():
            return [flag] if value else []
        case str() | int() | float():
            return [flag, str(value)]
        case list() if all(type(each) in (str, int, float) for each in value):
            return [word for each in value for word in (flag, str(each))]
    message = f"{where}: give a text, a number, true, or a list of these"
    raise BadInputError(message)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each for each in value)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and float(value) >= 0  # type: ignore[arg-type]


def _require(holds: bool, message: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise BadInputError(message)
