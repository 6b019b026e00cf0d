"""Hide this machine's folders and keys in a server's command line and log."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import BadInputError
from schemas import private, public_arguments
from schemas.codec import Json
from schemas.public_arguments import HIDDEN, HUB_NAME, KINDS

# The names of flags and variables whose value is a key: `--api-key`, `-hft`, `HF_TOKEN`.
_OF_A_KEY = re.compile(
    r"(?:.*[_-])?(?:key|token|hft|secret|pwd|pass(?:w\w*)?|auth\w*|cred\w*)", re.IGNORECASE
)
_SHORTEST_KEY = 4


def recorded(command: Sequence[str]) -> tuple[str, ...]:
    """Return a server's arguments in a form fit for publication: local folders are hidden."""
    return tuple(map(_without_folders, public_arguments.recorded(command)))


def _without_folders(word: str) -> str:
    for name in HUB_NAME.findall(word):
        if Path(name).exists():
            word = word.replace(name, HIDDEN)
    return word


def without_keys(text: str, command: Sequence[str]) -> str:
    """Hide a server's secret keys in a text such as its log, since logs repeat the arguments."""
    for key in sorted(_keys(command), key=len, reverse=True):
        text = text.replace(key, "(a key)")
    return text


def _with_values(command: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each word, its flag, and its value: the text after an equals sign, or the next word."""
    for word, following in zip(command, (*command[1:], ""), strict=True):
        flag, equals, value = word.partition("=")
        yield word, flag, value if equals else following


def _keys(command: Sequence[str]) -> Iterator[str]:
    for word, flag, key in _with_values(command):
        if _OF_A_KEY.fullmatch(flag.lstrip("-")) and len(key) >= _SHORTEST_KEY:
            yield key
        if private.secret(word):
            yield word


def settings(command: Sequence[str]) -> dict[str, Json]:
    """Return the settings in a server's JSON options, such as `--speculative-config`, by key.

    Raises `BadInputError` for JSON that lost its quotes to the shell.
    """
    stated: dict[str, Json] = {}
    for _, flag, text in _with_values(command):
        config, _, key = flag.lstrip("-").partition(".")
        if KINDS.get(config.replace("_", "-")) != "configurations":
            continue
        try:
            read: Json = json.loads(text)
        except (ValueError, RecursionError) as error:
            if text.startswith("{"):
                raise BadInputError(
                    f"{flag} {text} is not JSON: put it in separate quotes inside the quoted "
                    f"command. To avoid quotes, write {flag}.method ngram "
                    f"{flag}.num_speculative_tokens 5"
                ) from error
            read = text
        if key:
            read = {key.replace("-", "_"): read}
        stated |= read if isinstance(read, dict) else {}
    return stated
