"""Show a server's command line as it is recorded: listed flags and values, and `…` for the rest.

A command line can contain keys, host names and paths with a person's name, in more forms than a
list of forbidden words could cover. `server_arguments.toml` lists the flags that change a server's
speed. A value is recorded if it has the form for its flag, such as a number or a known word.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from schemas import private
from schemas.codec import Json
from schemas.finding import Violation
from schemas.public_text import is_number, is_word
from schemas.submission import Submission
from schemas.vocabulary.documents import document

PORT = "{port}"
HIDDEN = "…"
NO_FLAG = f"--{HIDDEN}"  # an argument that is not listed
_LONGEST = 200
_MOST = 128
# Names of owners on the hub have no dots; host names do.
HUB_NAME = re.compile(r"(?<![\w-])[A-Za-z0-9][\w-]*/[A-Za-z0-9][\w.-]*(?::[\w.-]+)?", re.ASCII)
# Keys are long, or begin with the mark of a service.
_SECRET = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_|sk-|pk-|gh[a-z]_|glpat-|nvapi-|xox[a-z]-|eyJ|AKIA)|"
    + private.LONG_WORD
)
_MODULE = re.compile(r"(?:vllm|sglang|llama_cpp|mlx_lm|mlx_vlm|lmdeploy|aphrodite)(?:\.[a-z_]+)*")
_COMMANDS = frozenset({"serve", "server", "launch_server", "api_server", "run", "start"})
_LISTS: dict[str, list[str]] = document("server_arguments")
_SETTINGS = frozenset(_LISTS["settings"])
KINDS = {flag: kind for kind, flags in _LISTS.items() if kind != "settings" for flag in flags}
Show = Callable[[str], str]
Effect = Literal["speed", "text", "lossy", "neutral", "method", "unknown"]


@cache
def declared(engine: str) -> Mapping[str, tuple[str, str | None, Effect]]:
    """For each name of an argument: the name for readers, the default value, and the effect."""
    tables = document("argument_effects")
    table = tables.get(engine, tables["any other"])
    found = dict(declared(table["parent"])) if "parent" in table else {}
    for effect, entries in table.items():
        for entry in entries if effect != "parent" else ():
            names, equals, default = entry.partition("=")
            first, *_ = names.split()
            found |= dict.fromkeys(names.split(), (first, default if equals else None, effect))
    return found


# Of the arguments that are not in the lists, those without an effect on a result are hidden like
# values, those with a known effect are named without a value, and all others are `NO_FLAG`.
EFFECTS = {
    name: effect
    for engine in document("argument_effects")
    for name, (_, _, effect) in declared(engine).items()
}


def is_public(argument: Sequence[str]) -> bool:
    """Whether a flag and its value, if any, are recorded unchanged."""
    return recorded(("", *argument)) == tuple(argument)


def only_public(submission: Submission) -> Iterator[Violation]:
    """A result has only server arguments that the harness would record: no path, host or key."""
    message = (
        "is not among the options and values that a result may contain "
        "(schemas/vocabulary/server_arguments.toml), which exclude paths, addresses and keys; "
        f"write {HIDDEN} in its place, or remove it"
    )
    for number, text in enumerate(submission.settings.server_arguments or ()):
        if not is_public(text.split(" ")):
            yield f"$.settings.server_arguments[{number}]", message
    for place, arm in enumerate(submission.arms):
        argv = arm.argv or ()
        if (shown := recorded(("", *argv))) != argv:
            pairs = enumerate(zip(argv, (*shown, *argv[len(shown) :]), strict=True))
            wrong = next((number for number, (own, public) in pairs if own != public), 0)
            yield f"$.arms[{place}].argv[{wrong}]", message


def recorded(command: Sequence[str]) -> tuple[str, ...]:
    """The arguments after the program, made safe for publication."""
    words: list[str] = []
    show: Show = _positional
    for word in command[1:]:
        if word.startswith("-") and not is_number(word):
            flag, equals, value = word.partition("=")
            show = _value_of(flag)
            shown = f"{flag}={show(value)}" if equals else flag
            if show is _hide:
                effect = EFFECTS.get(flag.lstrip("-").replace("_", "-"))
                shown = {None: NO_FLAG, "neutral": HIDDEN}.get(effect, shown)
            elif equals or show is _no_value:
                show = _positional
        else:
            shown = show(word)
            show = _hide if show is _hide else _positional  # hide what follows an unknown flag
        if shown not in (HIDDEN, NO_FLAG) or words[-1:] not in ([shown], [NO_FLAG]):
            words.append(shown)
    return tuple(words[:_MOST])


def _value_of(flag: str) -> Show:
    """The function that shows the flag's value; it is `_hide` for a flag that is not listed."""
    name = flag.lstrip("-").replace("_", "-")
    config, dot, key = name.partition(".")
    if not dot:
        return _VALUES.get(KINDS.get(name, ""), _hide)
    key = key.replace("-", "_")
    listed = KINDS.get(config) == "configurations" and key in _SETTINGS
    return (lambda value: str(_setting(key, value))) if listed else _hide


def _hide(_word: str) -> str:
    return HIDDEN


def _no_value(_value: str) -> str:
    """Hide any value given to a switch, which takes none."""
    return HIDDEN


def _word(value: str) -> str:
    return value if is_word(value) or is_number(value) else HIDDEN


def _model(value: str) -> str:
    usual = HUB_NAME.fullmatch(value) and len(value) <= _LONGEST and not private.personal(value)
    return value if usual and not _SECRET.search(value) else HIDDEN


def _positional(word: str) -> str:
    """Show a subcommand or the name of a model on the hub; hide any other word."""
    return word if word in _COMMANDS else _model(word)


def _configuration(text: str) -> str:
    try:
        values: Json = json.loads(text)
    except (ValueError, RecursionError):
        return HIDDEN
    if not isinstance(values, dict):
        return HIDDEN
    shown = {key if key in _SETTINGS else HIDDEN: _setting(key, values[key]) for key in values}
    found = json.dumps(shown, ensure_ascii=False)
    return found if len(found) <= _LONGEST else HIDDEN


def _setting(key: str, value: Json) -> Json:
    if key not in _SETTINGS:
        return HIDDEN
    if isinstance(value, str):
        return _model(value) if key == "model" else _word(value)
    return value if value is None or isinstance(value, int | float) else HIDDEN


_VALUES: dict[str, Show] = {
    "numbers": lambda value: value if value == PORT or is_number(value) else HIDDEN,
    "words": _word,
    "switches": _no_value,
    "models": _model,
    "modules": lambda value: value if _MODULE.fullmatch(value) else _model(value),
    "configurations": _configuration,
}
