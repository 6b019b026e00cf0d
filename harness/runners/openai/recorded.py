"""Which words of a server's command line a result records."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from harness.runners.openai.endpoints import PORT
from schemas.codec import Json

_HIDDEN = "…"
_LONGEST = 200
_MOST = 128
_NUMBER = re.compile(r"[+-]?\d{1,12}(?:\.\d{1,12})?%?", re.ASCII)
_WORD = re.compile(r"(?=.{1,32}$)(?:[a-z0-9]+[._+,-])*[a-z0-9]+|[A-Z0-9]+(?:_[A-Z0-9]+)*", re.ASCII)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(?::[\w.-]+)?", re.ASCII)
# Keys are long, or begin as services mark theirs.
_SECRET = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_|sk-|pk-|gh[a-z]_|glpat-|nvapi-|xox[a-z]-|eyJ|AKIA)|[A-Za-z0-9]{21,}"
)
_MODULE = re.compile(r"(?:vllm|sglang|llama_cpp|mlx_lm|mlx_vlm|lmdeploy|aphrodite)(?:\.[a-z_]+)*")
_COMMANDS = frozenset({"serve", "server", "launch_server", "api_server", "run", "start"})
_LISTS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("recorded.toml").read_text("utf-8")
)
_NUMBERS, _WORDS, _SWITCHES, _MODELS, _SETTINGS = (
    frozenset(_LISTS[name]) for name in ("numbers", "words", "switches", "models", "settings")
)
_CONFIGS = frozenset({"speculative-config", "sc", "compilation-config"})


def recorded(command: Sequence[str]) -> tuple[str, ...]:
    """The words after the program, fit to be published."""
    words: list[str] = []
    flag: str | None = None  # the flag that waits for its value; empty for one that is not known
    for word in command[1:]:
        if _is_flag(word):
            shown, flag = _flag(word)
        else:
            shown = _value(flag, word) if flag is not None else _positional(word)
            flag = flag if flag == "" else None
        if shown != _HIDDEN or words[-1:] != [_HIDDEN]:
            words.append(shown)
    return tuple(words[:_MOST])


def _is_flag(word: str) -> bool:
    return word.startswith("-") and not _NUMBER.fullmatch(word)


def _flag(word: str) -> tuple[str, str | None]:
    """A flag as it is shown, and its name where a value may follow: empty if it is not known."""
    flag, equals, value = word.partition("=")
    name = _name(flag)
    if not _is_known(name):
        return _HIDDEN, ""
    if equals:
        return f"{flag}={_value(name, value)}", None
    return flag, None if name in _SWITCHES else name


def _name(flag: str) -> str:
    return flag.lstrip("-").replace("_", "-")


def _is_known(name: str) -> bool:
    config, dot, key = name.partition(".")
    if dot:
        return config in _CONFIGS and key.replace("-", "_") in _SETTINGS
    return name in _NUMBERS | _WORDS | _SWITCHES | _MODELS | _CONFIGS


def _value(name: str, value: str) -> str:
    config, dot, key = name.partition(".")
    if dot:
        return str(_setting(key.replace("-", "_"), value))
    if config in _CONFIGS:
        return _configuration(value)
    shown = (
        (name in _NUMBERS and (value == PORT or _NUMBER.fullmatch(value) is not None))
        or (name in _WORDS and _is_word(value))
        or (name in _MODELS and _is_hub_name(value))
        or (name == "m" and _MODULE.fullmatch(value) is not None)
    )
    return value if shown else _HIDDEN


def _positional(word: str) -> str:
    """A subcommand, or a model of the hub."""
    return word if word in _COMMANDS or _is_hub_name(word) else _HIDDEN


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
        shown = _is_hub_name(value) if key == "model" else _is_word(value)
        return value if shown else _HIDDEN
    return value if value is None or isinstance(value, int | float) else _HIDDEN


def _is_word(text: str) -> bool:
    usual = _WORD.fullmatch(text) is not None or _NUMBER.fullmatch(text) is not None
    return usual and not _SECRET.search(text)


def _is_hub_name(text: str) -> bool:
    usual = _HUB_NAME.fullmatch(text) is not None and len(text) <= _LONGEST
    return usual and not _SECRET.search(text) and not Path(text).exists()
