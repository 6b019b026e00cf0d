"""Parse `--method`: `name`, `name:key=value,key=value`, or a chain of such methods joined by `+`.

Every parameter is explicit, because an engine's defaults differ between builds. A method gets its
draft when the method becomes an arm.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from harness.errors import BadInputError, suggestion
from harness.options import count_in
from schemas import vocabulary
from schemas.method import Method, method_with

Value = str | int | float | bool | tuple[str, ...]

# The methods that a user can choose.
METHODS = {name: entry for name, entry in vocabulary.METHODS.items() if entry.runners}


def parse(text: str) -> Method:
    """Parse a value of `--method`. Raises `BadInputError`, which suggests the nearest name."""
    if "+" in text:
        return _chain([parse(part) for part in text.split("+")])
    name, _, rest = text.strip().partition(":")
    entry = METHODS.get(name)
    if entry is None:
        raise BadInputError(f"unknown method {name!r}.{suggestion(name.lower(), METHODS, most=4)}")
    given = parameters(name, rest, known=(*entry.defaults, *entry.optional))
    method = method_with(name, {**entry.defaults, **given})
    _require_order(method)
    return method


def as_text(method: Method) -> str:
    """Write a method in the form that `parse` accepts, without its draft."""
    if method.chain:
        depth = "" if method.n_max is None else f":n_max={method.n_max}"
        return "+".join(method.chain) + depth
    entry = METHODS[method.type]
    sizes = {name: method.sizes.get(name) for name in (*entry.defaults, *entry.optional)}
    given = [f"{name}={size:g}" for name, size in sizes.items() if size is not None]
    return f"{method.type}:{','.join(given)}" if given else method.type


def defaults(runner: vocabulary.RunnerEntry) -> tuple[Method, ...]:
    """Return the methods that a runner measures if the user names no method."""
    return tuple(map(parse, runner.default_methods))


def parameters(kind: str, text: str, *, known: Collection[str]) -> dict[str, Value]:
    """Parse the parameters in `key=value,key=value`. Raises `BadInputError` for an unknown key."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    given = {key.strip(): value.strip() for key, _, value in pairs}
    if len(given) < len(pairs):
        raise BadInputError(
            f"{kind}: a size is given twice; give each size once, or repeat --method for each value"
        )
    found = {key: _value(kind, key, value, known) for key, value in given.items()}
    return {**found, "adaptive": True} if "controller" in found else found


def _value(kind: str, key: str, value: str, known: Collection[str]) -> Value:
    if key not in known and key != "controller":
        hint = suggestion(key, known) if known else " This method has no options."
        raise BadInputError(f"{kind} has no option {key!r}.{hint}")
    read, form = _FORMS.get(key, _SIZE)
    found = read(value)
    if found is None:
        raise BadInputError(f"{kind}: {key} must be {form}, not {value!r}")
    if key == "controller" and vocabulary.METHODS[kind].fixed:
        raise BadInputError(
            f"{kind}: its depth is fixed, so it has no controller; leave out controller="
        )
    return found


def _require_order(method: Method) -> None:
    """Raise `BadInputError` for parameters with which no token could be drafted."""
    most, longest = method.n_max, method.ngram_max
    message = None
    if most is not None and (method.n_min or 0) > most:
        message = f"n_min={method.n_min} exceeds n_max={most}, so nothing would be drafted"
    elif longest is not None and (method.ngram_min or 0) > longest:
        message = f"ngram_min={method.ngram_min} exceeds ngram_max={longest}"
    elif most is not None and (method.length or 0) > most + 1:
        message = (
            f"length={method.length:g} exceeds n_max + 1, the most tokens that a round can yield"
        )
    if message:
        raise BadInputError(f"{method.type}: {message}")


def _chain(parts: Sequence[Method]) -> Method:
    """Parse a chain.

    Raises `BadInputError` if it is invalid or a result cannot store its parameters.
    """
    kinds = tuple(part.type for part in parts)
    if any(METHODS[kind].fixed for kind in kinds) or len(set(kinds)) < len(kinds):
        raise BadInputError(
            "a chain combines different n-gram methods and one draft method, such as "
            "ngram-mod+draft-model"
        )
    models = [part for part in parts if METHODS[part.type].draft != "none"]
    allowed = [
        method_with(part.type, {"n_max": part.n_max}) if part in models else parse(part.type)
        for part in parts
    ]
    if len(models) > 1 or parts != allowed:
        raise BadInputError(
            "only one method in a chain can have a model, and only that method's n_max can be "
            "set; n-gram methods keep their default sizes"
        )
    n_max = models[0].n_max if models else None
    return Method(type="other", name="+".join(kinds), n_max=n_max, chain=kinds)


_DEEPEST = 256
_SHARE = re.compile(r"[01](?:\.[0-9]{1,4})?")
_LENGTH = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{1,4})?")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,38}[A-Za-z0-9])?")


def _whole(value: str, *, least: int) -> int | None:
    number = count_in(value)
    return number if number is not None and least <= number <= _DEEPEST else None


def _number(value: str, *, form: re.Pattern[str], most: int) -> float | None:
    return float(value) if form.fullmatch(value) and float(value) <= most else None


def _kinds(value: str) -> tuple[str, ...] | None:
    kinds = tuple(value.split("+"))
    return kinds if vocabulary.METHODS.keys() >= set(kinds) else None


# The parser of a parameter's value (`None` if malformed), and the expected form in words.
_Form = tuple[Callable[[str], Value | None], str]
_SIZE: _Form = (partial(_whole, least=1), f"a whole number from 1 to {_DEEPEST}")
_PROBABILITY: _Form = (partial(_number, form=_SHARE, most=1), "a number from 0 to 1 like 0.7")
_FORMS: Mapping[str, _Form] = {
    "n_min": (partial(_whole, least=0), f"a whole number from 0 to {_DEEPEST}"),
    "p_min": _PROBABILITY,
    "acceptance": _PROBABILITY,
    "length": (
        partial(_number, form=_LENGTH, most=_DEEPEST + 1),
        f"a number from 1 to {_DEEPEST + 1}, such as 2.5",
    ),
    "controller": (lambda value: value if _NAME.fullmatch(value) else None, "a name like autotune"),
    "adaptive": ({"true": True, "false": False}.get, "true or false"),
    "chain": (_kinds, "methods joined by +"),
    "draft": (str, "a name"),
    "name": (str, "a name"),
}
