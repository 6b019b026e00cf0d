"""Offer the axes in `axes.toml` as options of a run, and record them as settings in a result."""

import re
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from harness.campaign.model import RunSettings
from harness.errors import BadInputError
from harness.options import Option, number_or_all
from schemas.public_arguments import is_public
from schemas.submission import Axes, Settings
from schemas.vocabulary.axes import AXES, Axis, choices

# The file format's pattern for an option: it excludes paths, addresses and keys.
_ARGUMENT = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9-]*(?: [A-Za-z0-9.,:=_-]+)?")
# Flags that a message may quote: a flag of this form cannot contain a key.
_FLAG = re.compile(r"--?[a-z]{1,12}(?:-[a-z]{1,12}){0,4}")


def _argument(text: str) -> str:
    """Return a server argument as one string: the option, and its value if it has one."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if len(words) == 1 and words[0].startswith("--"):  # --name=value is --name value
        words = words[0].split("=", 1)
    joined = " ".join(words)
    if _ARGUMENT.fullmatch(joined) and is_public(words):
        return joined
    name = f" with {words[0]}" if words and _FLAG.fullmatch(words[0]) else ""
    raise BadInputError(
        f"--server-arg{name}: give one option with its value, such as --server-arg "
        "'--cache-reuse 256'. The result records this option, so only options that never contain "
        "a path, name, address or key are accepted. For other options use --runner openai "
        "--server-command, which hides them"
    )


# Axes that may have several values in one command.
_PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "server_arguments": lambda texts: tuple(map(_argument, texts)),
}


def _option(axis: Axis) -> Option:
    known, parse = choices(axis), _PARSERS.get(axis.id)
    if axis.server_all:
        least, most = axis.least or 0, axis.most or 0
        parse = partial(number_or_all, option=axis.option, least=least, most=most)
    return Option(
        axis.help.format(choices=", ".join(known)),
        name=axis.option,
        metavar=axis.metavar,
        panel=axis.panel,
        least=axis.least,
        most=axis.most,
        choices=known,
        parse=parse,
    )


OPTIONS: Mapping[str, Option] = {name: _option(axis) for name, axis in AXES.items()}


def given(options: Axes) -> list[str]:
    """Return the names of the axes whose options were given.

    Raises `BadInputError` if an option was given without another option that it requires.
    """
    found = {name: axis.value(options) for name, axis in AXES.items()}
    found = {name: value for name, value in found.items() if value not in (None, ())}
    for name in found:
        needed = AXES[name].needs
        if needed is not None and needed not in found:
            flag = f"--{AXES[name].option}"
            raise BadInputError(
                f"{flag} works only with --{AXES[needed].option}; add that option, or leave "
                f"{flag} out"
            )
    return list(found)


def with_defaults(options: Axes) -> dict[str, Any]:
    """Return the values of all axes of a run: those given as options, defaults for the others."""
    found = {name: AXES[name].value(options) for name in Axes.__dataclass_fields__}
    return {name: AXES[name].default if value is None else value for name, value in found.items()}


def recorded(settings: RunSettings, runner: str) -> Settings:
    """Return the settings known without asking the engine: sampling, length, the runner's axes."""
    stated = {
        name: axis.value(settings)
        for name, axis in AXES.items()
        if runner in axis.runners and (axis.needs is None or AXES[axis.needs].value(settings))
    }
    return Settings(
        sampling="greedy" if settings.temperature is None else "other",
        max_output_tokens=settings.max_output_tokens,
        **stated,
    )
