"""What is the command line of a server? Words with a port put in, and what of them may be shown."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemas.codec import Json

PORT = "{port}"
_SECRET = re.compile(r"key|token|secret|password", re.IGNORECASE)
# Flags about tokens of text, which are no secrets.
_COUNTS = re.compile(r"tokens|tokenizer|num-token|n-token|token-ids", re.IGNORECASE)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_HIDDEN = "…"
_LONGEST = 200
_MOST = 128


def words(command: str, *, option: str) -> tuple[str, ...]:
    """The words of a command line. Raises `BadInputError` when it has no place for a port."""
    try:
        found = tuple(shlex.split(command, posix=os.name != "nt"))
    except ValueError as error:
        message = f"{option}: {error}; quote it as for a shell"
        raise BadInputError(message) from error
    if not any(PORT in word for word in found):
        message = f"{option} needs a place for the port: write {PORT}, as in --port {PORT}"
        raise BadInputError(message)
    return found


def with_port(command: Sequence[str], port: int) -> tuple[str, ...]:
    """The words as they are run."""
    return tuple(word.replace(PORT, str(port)) for word in command)


def shown(command: Sequence[str]) -> tuple[str, ...]:
    """The words after the program, fit to be published: no places on a disk and no secrets."""
    visible: list[str] = []
    previous = ""
    for word in command[1:]:
        flag, equals, value = word.partition("=")
        if equals and flag.startswith("-"):
            visible.append(f"{flag}={_HIDDEN if _is_secret(flag) else _shown(value)}")
            previous = ""
        else:
            visible.append(_HIDDEN if _is_secret(previous) else _shown(word))
            previous = word
    return tuple(word[:_LONGEST] for word in visible[:_MOST])


def _is_secret(flag: str) -> bool:
    return flag.startswith("-") and bool(_SECRET.search(flag)) and not _COUNTS.search(flag)


def _shown(word: str) -> str:
    try:
        value: Json = json.loads(word)
    except ValueError:
        value = word
    if isinstance(value, dict | list):
        return json.dumps(_without_places(value), ensure_ascii=False)
    return _plain(word)


def _without_places(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: _HIDDEN
            if _SECRET.search(key) and not _COUNTS.search(key)
            else _without_places(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_without_places(item) for item in value]
    return _plain(value) if isinstance(value, str) else value


def _plain(text: str) -> str:
    """The text, unless it is a place on a disk or has signs that the format does not take."""
    text = re.sub(r"[\x00-\x1f<>]", "", text)
    if "/" not in text and "\\" not in text and not text.startswith("~"):
        return text
    is_hub_name = _HUB_NAME.fullmatch(text) is not None
    return text if is_hub_name and not Path(text).exists() else _HIDDEN
