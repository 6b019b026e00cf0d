"""Show a server's command line as a result records it: what a list allows, `…` for all others.

A command line can hold keys, host names and paths with a person's name, in more forms than a list
of forbidden words could name. `server_arguments.toml` lists the flags that make a server faster or
slower; a value is recorded if it has a form that its flag's kind allows.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.errors import BadInputError
from harness.machine.public_text import is_number, is_word
from schemas import private
from schemas.codec import Json
from schemas.vocabulary.documents import document

PORT = "{port}"
_HIDDEN = "…"
_LONGEST = 200
_MOST = 128
# Owners on the hub have no dots, hosts have.
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w-]*/[A-Za-z0-9][\w.-]*(?::[\w.-]+)?", re.ASCII)
# Keys are long, or begin as services mark theirs.
_SECRET = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_|sk-|pk-|gh[a-z]_|glpat-|nvapi-|xox[a-z]-|eyJ|AKIA)|[A-Za-z0-9]{21,}"
)
# The names of flags and variables whose value is a key: `--api-key`, `-hft`, `HF_TOKEN`.
_OF_A_KEY = re.compile(
    r"(?:.*[_-])?(?:key|token|hft|secret|pwd|pass(?:w\w*)?|auth\w*|cred\w*)", re.IGNORECASE
)
_SHORTEST_KEY = 4
_MODULE = re.compile(r"(?:vllm|sglang|llama_cpp|mlx_lm|mlx_vlm|lmdeploy|aphrodite)(?:\.[a-z_]+)*")
_COMMANDS = frozenset({"serve", "server", "launch_server", "api_server", "run", "start"})
_LISTS: dict[str, list[str]] = document("server_arguments", "harness.campaign")
_SETTINGS = frozenset(_LISTS["settings"])
_KINDS = {flag: kind for kind, flags in _LISTS.items() if kind != "settings" for flag in flags}
Show = Callable[[str], str]


def is_public(argument: Sequence[str]) -> bool:
    """Whether a flag and its value, if it has one, are recorded as they are."""
    return recorded(("", *argument)) == tuple(argument)


def recorded(command: Sequence[str]) -> tuple[str, ...]:
    """The words after the program, fit to be published."""
    words: list[str] = []
    show: Show = _positional
    for word in command[1:]:
        if word.startswith("-") and not is_number(word):
            flag, equals, value = word.partition("=")
            show = _value_of(flag)
            shown = f"{flag}={show(value)}" if equals else flag
            if show is _hide:
                shown = _HIDDEN
            elif equals or show is _no_value:
                show = _positional
        else:
            shown = show(word)
            show = _hide if show is _hide else _positional  # nothing follows an unknown flag
        if shown != _HIDDEN or words[-1:] != [_HIDDEN]:
            words.append(shown)
    return tuple(words[:_MOST])


def without_keys(text: str, command: Sequence[str]) -> str:
    """A text without the keys in a command line, since servers repeat their arguments in logs."""
    for key in sorted(_keys(command), key=len, reverse=True):
        text = text.replace(key, "(a key)")
    return text


def _with_values(command: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each word with its flag, and with the value after an equals sign or the next word."""
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
    """What the configurations of a command line set, by their keys.

    Raises `BadInputError` for JSON that lost its quotes to the shell.
    """
    stated: dict[str, Json] = {}
    for _, flag, text in _with_values(command):
        config, _, key = flag.lstrip("-").partition(".")
        if _KINDS.get(config.replace("_", "-")) != "configurations":
            continue
        try:
            read: Json = json.loads(text)
        except (ValueError, RecursionError) as error:
            if text.startswith("{"):
                message = (
                    f"{flag} {text} is not JSON: within the quotes of the command it needs its "
                    f"own. Without any: {flag}.method ngram {flag}.num_speculative_tokens 5"
                )
                raise BadInputError(message) from error
            read = text
        if key:
            read = {key.replace("-", "_"): read}
        stated |= read if isinstance(read, dict) else {}
    return stated


def _value_of(flag: str) -> Show:
    """The function that shows a value of a flag: `_hide` for a flag that is not listed."""
    name = flag.lstrip("-").replace("_", "-")
    config, dot, key = name.partition(".")
    if not dot:
        return _VALUES.get(_KINDS.get(name, ""), _hide)
    key = key.replace("-", "_")
    listed = _KINDS.get(config) == "configurations" and key in _SETTINGS
    return (lambda value: str(_setting(key, value))) if listed else _hide


def _hide(_word: str) -> str:
    return _HIDDEN


def _no_value(_value: str) -> str:
    """For a switch: what follows it is positional."""
    return _HIDDEN


def _word(value: str) -> str:
    return value if is_word(value) or is_number(value) else _HIDDEN


def _model(value: str) -> str:
    usual = _HUB_NAME.fullmatch(value) and len(value) <= _LONGEST and not private.personal(value)
    return value if usual and not _SECRET.search(value) and not Path(value).exists() else _HIDDEN


def _positional(word: str) -> str:
    """A subcommand, or a model of the hub."""
    return word if word in _COMMANDS else _model(word)


def _configuration(text: str) -> str:
    try:
        values: Json = json.loads(text)
    except (ValueError, RecursionError):
        return _HIDDEN
    if not isinstance(values, dict):
        return _HIDDEN
    shown = {key if key in _SETTINGS else _HIDDEN: _setting(key, values[key]) for key in values}
    found = json.dumps(shown, ensure_ascii=False)
    return found if len(found) <= _LONGEST else _HIDDEN


def _setting(key: str, value: Json) -> Json:
    if key not in _SETTINGS:
        return _HIDDEN
    if isinstance(value, str):
        return _model(value) if key == "model" else _word(value)
    return value if value is None or isinstance(value, int | float) else _HIDDEN


_VALUES: dict[str, Show] = {
    "numbers": lambda value: value if value == PORT or is_number(value) else _HIDDEN,
    "words": _word,
    "switches": _no_value,
    "models": _model,
    "modules": lambda value: value if _MODULE.fullmatch(value) else _model(value),
    "configurations": _configuration,
}
