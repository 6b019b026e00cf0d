"""Sort a server's arguments by their effect, to keep results with other arguments apart."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schemas.public_arguments import HIDDEN, KINDS, NO_FLAG, Effect, declared
from schemas.public_text import is_number
from schemas.submission import Arm, Submission
from schemas.vocabulary import METHODS
from schemas.vocabulary.documents import document

DECLARED: tuple[Effect, ...] = ("speed", "text", "lossy")  # effects that separate results
_SEPARATING: tuple[Effect, ...] = (*DECLARED, "unknown")
UNKNOWN = "unknown options"


class Argument(NamedTuple):
    """An argument under its engine's first name for it, with its effect; a switch has no value."""

    name: str
    value: str
    effect: Effect

    def __str__(self) -> str:
        """The argument for readers; an unlisted one has no name, because it can be anything."""
        if self.name in (HIDDEN, f".{HIDDEN}"):
            return UNKNOWN
        name = self.name.removeprefix(".") if self.name[0] == "." else f"--{self.name}"
        shown = name if self.name.upper() != self.name else self.name
        return f"{shown} {self.value}".strip()


def read(words: Sequence[str], engine: str) -> tuple[Argument, ...]:
    """A server's arguments, as a result records them, with their effects."""
    known = declared(engine)
    found = dict[str, Argument]()
    for name, value in pairs(words):
        shown, default, effect = known.get(name, (name, None, "unknown"))
        *_, effect = known.get(f"{name}:{value}", (effect,))
        if not _equal(value, default):
            found[shown] = Argument(shown, value, effect)
    return tuple(found.values())


def is_lossy(arm: Arm) -> bool:
    """Whether the arm accepts tokens that its target would not have written."""
    told = (
        each for engine in document("argument_effects") for each in read(arm.argv or (), engine)
    )
    return METHODS[arm.method.type].lossy or any(each.effect == "lossy" for each in told)


def of_all_arms(submission: Submission) -> tuple[str, ...]:
    """The arguments of the first baseline that make its result a different one.

    The harness states what it gives to llama-server as settings, except for the arguments that a
    person added.
    """
    engine = submission.engine
    words = [word for each in submission.settings.server_arguments or () for word in each.split()]
    if engine.runner == "openai":
        baseline = next((arm for arm in submission.arms if arm.role == "baseline"), None)
        words += baseline.argv or () if baseline else ()
        listed = (each for each in engine.variables or () if each.name in declared(engine.name))
        words += [f"--{each.name}={each.value}" for each in listed]
    return tuple(str(a) for a in read(words, engine.name) if a.effect in _SEPARATING)


def of_arm(arm: Arm, submission: Submission) -> tuple[str, ...]:
    """The arguments that make an arm a different one, as words: those that its baseline lacks."""
    baseline = next((each for each in submission.arms if each.id == arm.baseline), None)
    if submission.engine.runner != "openai" or baseline is None or arm.argv is None:
        return ()
    own, base = (
        {str(a) for a in read(each.argv or (), submission.engine.name) if a.effect in _SEPARATING}
        for each in (arm, baseline)
    )
    missing = sorted(base - own) if baseline.argv else []
    return (*sorted(own - base), *(f"without {each}" for each in missing))


def pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The name and the value of each argument; each key of a JSON option is an argument."""
    name: str | None = None
    values: list[str] = []
    for word in (*words, NO_FLAG):
        if not word.startswith("-") or is_number(word):
            values += [word] if word != HIDDEN or not values else []
            continue
        if name is not None:
            yield from _with_keys(name, " ".join(values))
        flag, equals, value = word.partition("=")
        name, values = flag.lstrip("-"), [value] if equals else []
        if not name.isupper():
            name = name.replace("_", "-")


def _with_keys(name: str, value: str) -> Iterator[tuple[str, str]]:
    config, dot, key = name.partition(".")
    if KINDS.get(name) == "switches":
        value = ""  # a switch takes none
    if KINDS.get(config) != "configurations":
        yield name, value
    elif dot:
        yield f".{key.replace('-', '_')}", value
    elif value.startswith("{"):
        for key, each in json.loads(value).items():
            yield f".{key}", each if isinstance(each, str) else json.dumps(each)
    else:
        yield name, value


def _equal(value: str, default: str | None) -> bool:
    if default is None or value == default:
        return value == default
    return is_number(value) and is_number(default) and float(value) == float(default)
