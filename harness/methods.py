"""What does `--method` say? `name` or `name:key=value,key=value`, as a typed request.

A request becomes an arm once it is known which drafts there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.nearest import suggestion
from schemas.submission import EmptyDraft, NoSpeculation, Oracle, PromptLookup

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEPEST = 256
_SHARE = re.compile(r"[01](?:\.[0-9]{1,4})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModelRequest:
    """A draft model that proposes up to `n_max` tokens; which model, `--draft` decides."""

    n_max: int


MethodRequest = NoSpeculation | PromptLookup | DraftModelRequest | EmptyDraft | Oracle


def parse(text: str) -> MethodRequest:
    """The request in the value of `--method`. Raises `BadInputError` with the nearest name."""
    name, _, rest = text.strip().partition(":")
    known = _METHODS.get(name)
    if known is None:
        message = f"unknown method {name!r}.{suggestion(name, _METHODS)}"
        raise BadInputError(message)
    build, defaults = known
    return build({**defaults, **_options(name, rest, defaults)})


def label(request: MethodRequest) -> str:
    """The arm id that a request gets, if only one draft is there: `prompt-lookup-n8`."""
    match request:
        case NoSpeculation():
            return "baseline-again"
        case EmptyDraft():
            return "empty-draft"
        case DraftModelRequest():
            return f"draft-model-n{request.n_max}"
        case Oracle():
            return f"oracle-a{request.acceptance:g}-n{request.n_max}"
        case PromptLookup():
            usual = (_NGRAM_MIN, _NGRAM_MAX)
            lengths = (request.ngram_min, request.ngram_max)
            tail = "" if lengths == usual else f"-g{lengths[0]}-{lengths[1]}"
            return f"prompt-lookup-n{request.n_max}{tail}"


_NGRAM_MIN = 2
_NGRAM_MAX = 4

_Options = dict[str, float]  # whole numbers but for the share `acceptance`


def _prompt_lookup(options: _Options) -> PromptLookup:
    shortest, longest = int(options["ngram_min"]), int(options["ngram_max"])
    if shortest > longest:
        message = f"prompt-lookup: ngram_min={shortest} exceeds ngram_max={longest}"
        raise BadInputError(message)
    return PromptLookup(n_max=int(options["n_max"]), ngram_min=shortest, ngram_max=longest)


def _oracle(options: _Options) -> Oracle:
    return Oracle(n_max=int(options["n_max"]), acceptance=options["acceptance"])


_METHODS: dict[str, tuple[Callable[[_Options], MethodRequest], _Options]] = {
    "prompt-lookup": (
        _prompt_lookup,
        {"n_max": 8, "ngram_min": _NGRAM_MIN, "ngram_max": _NGRAM_MAX},
    ),
    "draft-model": (lambda options: DraftModelRequest(n_max=int(options["n_max"])), {"n_max": 4}),
    "empty-draft": (lambda _: EmptyDraft(), {}),
    "oracle": (_oracle, {"n_max": 4, "acceptance": 0.7}),
    "none": (lambda _: NoSpeculation(), {}),
}


def _options(name: str, text: str, known: _Options) -> _Options:
    pairs = [pair for pair in text.split(",") if pair.strip()]
    return dict(_option(name, pair, known) for pair in pairs)


def _option(name: str, pair: str, known: _Options) -> tuple[str, float]:
    key, _, value = (part.strip() for part in pair.partition("="))
    if key not in known:
        hint = suggestion(key, known) if known else " It has no options."
        message = f"{name} has no option {key!r}.{hint}"
        raise BadInputError(message)
    if key == "acceptance":
        return key, _share(name, value)
    if not value.isdecimal() or not 1 <= int(value) <= _DEEPEST:
        message = f"{name}: {key} must be a whole number from 1 to {_DEEPEST}, not {value!r}"
        raise BadInputError(message)
    return key, int(value)


def _share(name: str, value: str) -> float:
    if not _SHARE.fullmatch(value) or float(value) > 1:
        message = f"{name}: acceptance must be a number from 0 to 1 like 0.7, not {value!r}"
        raise BadInputError(message)
    return float(value)
