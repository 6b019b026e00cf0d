"""Which engines does one command measure? One, or several binaries that are compared."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.cli.engine import ChosenEngine

_NAMED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)=(?P<path>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """An engine of the command; it has no name where it is the only one."""

    name: str
    engine: ChosenEngine


def legs(engine: ChosenEngine, binaries: Sequence[str]) -> tuple[Leg, ...]:
    """One leg for each binary, one alone where none is named. Raises `UsageError`."""
    if binaries and engine.name != "llama-server":
        message = f"--server-binary is for --runner llama-server, not for {engine.name}"
        raise UsageError(message)
    named = [_named(text) for text in binaries]
    if len(named) > 1:
        _require_names([name for name, _ in named])
    if not named:
        return (Leg(name="", engine=engine),)
    return tuple(
        Leg(
            name=name if len(named) > 1 else "",
            engine=replace(engine, reach=replace(engine.reach, binary=path)),
        )
        for name, path in named
    )


def _named(text: str) -> tuple[str, str]:
    """The name and the path in `name=PATH`; a path alone may hold an equals sign, too."""
    match = _NAMED.fullmatch(text)
    if match is None or Path(text).exists():
        return "", text
    return match["name"], match["path"]


def _require_names(names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if "" in names:
        message = (
            "several binaries need names: --server-binary cuda=PATH --server-binary vulkan=PATH"
        )
        raise UsageError(message)
    if twice:
        message = f"two binaries are called {twice[0]}; give each --server-binary a name of its own"
        raise UsageError(message)
