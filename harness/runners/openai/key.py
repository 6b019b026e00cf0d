"""Where does the key of a server come from? From the environment, and it goes nowhere but to it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from harness.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "DRAFTMAP_API_KEY"
OTHER_VARIABLE = "OPENAI_API_KEY"
_USABLE = re.compile(r"[\x21-\x7e]+")


def api_key(environment: Mapping[str, str] | None = None) -> str | None:
    """The key, if one is set. Raises `BadInputError` when it cannot be sent in a header."""
    found = os.environ if environment is None else environment
    name = VARIABLE if found.get(VARIABLE, "").strip() else OTHER_VARIABLE
    key = found.get(name, "").strip()
    if not key:
        return None
    if not _USABLE.fullmatch(key):
        message = f"{name} holds something that is no key: blanks, line breaks or other characters"
        raise BadInputError(message)
    return key


def without_key(text: str, key: str | None) -> str:
    """A text fit to be shown: servers repeat keys in their messages."""
    return text.replace(key, "(the key)") if key else text
