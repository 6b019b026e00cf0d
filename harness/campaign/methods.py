"""Parses `--method`: `name` or `name:key=value,key=value`, into a typed request.

A request becomes an arm once the drafts are known. Every size is explicit, none is left to an
engine, whose defaults differ from build to build.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from msgspec import structs

from harness.errors import UsageError, suggestion
from schemas import submission, vocabulary
from schemas.method import METHOD_CLASSES, AnyNgram
from schemas.vocabulary import MethodEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModelRequest:
    """A draft model that proposes up to `n_max` tokens; `--draft` names the model.

    Drafts of fewer than `n_min` tokens are not verified, and drafting stops at a token that the
    draft gives less than `p_min`; `None` is no such limit.
    """

    n_max: int
    n_min: int | None = None
    p_min: float | None = None
    controller: str | None = None
    type: Literal["draft-model"] = "draft-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftHeadRequest:
    """A head trained for the target, in the target's file or in its own; it reads its state."""

    type: str
    n_max: int
    n_min: int | None = None
    p_min: float | None = None
    controller: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedRequest:
    """An instrument that accepts `length` tokens per round; `--draft` names what drafts, if any."""

    n_max: int
    length: float
    type: Literal["forced"] = "forced"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRequest:
    """Methods that the engine asks in turn for a draft: the first that has one drafts.

    Sizes are the usual ones, but for those of the one method that drafts with a model.
    """

    parts: tuple["AnyNgram | DraftModelRequest | DraftHeadRequest", ...]
    type: Literal["other"] = "other"

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the methods, in their order."""
        return tuple(part.type for part in self.parts)

    @property
    def model(self) -> "DraftModelRequest | DraftHeadRequest | None":
        """The method that drafts with a model, if there is one."""
        found = (part for part in self.parts if not isinstance(part, submission.Ngram))
        return next(found, None)


# Methods without a draft are requested as the format has them.
PlainRequest = (
    submission.NoSpeculation
    | submission.PromptLookup
    | AnyNgram
    | submission.EmptyDraft
    | submission.Oracle
)
MethodRequest = PlainRequest | DraftModelRequest | DraftHeadRequest | ForcedRequest | ChainRequest

_Options = dict[str, float]  # whole numbers but for shares

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,38}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodKind:
    """A way of drafting: one line about it, its options with their defaults, and its request.

    An option without a default is left out unless it is given.
    """

    summary: str
    build: Callable[[_Options], MethodRequest]
    defaults: Mapping[str, float | None]


def parse(text: str) -> MethodRequest:
    """The request in the value of `--method`. Raises `UsageError` with the nearest name."""
    if "+" in text:
        return _chain([parse(part) for part in text.split("+")])
    name, _, rest = text.strip().partition(":")
    known = METHODS.get(name)
    if known is None:
        message = f"unknown method {name!r}.{suggestion(name, METHODS)}"
        raise UsageError(message)
    usual = {key: value for key, value in known.defaults.items() if value is not None}
    sizes, controller = _without_controller(rest)
    request = known.build({**usual, **_options(name, sizes, known.defaults)})
    return request if controller is None else _controlled(request, controller)


def _chain(parts: Sequence[MethodRequest]) -> ChainRequest:
    """Raises `UsageError` for what is no chain, or has sizes that a result cannot hold."""
    found = [
        each for each in parts if isinstance(each, AnyNgram | DraftModelRequest | DraftHeadRequest)
    ]
    if len(found) < len(parts) or len({each.type for each in found}) < len(found):
        message = "a chain has different n-gram methods and one that drafts: ngram-mod+draft-model"
        raise UsageError(message)
    ngrams = [each for each in found if isinstance(each, submission.Ngram)]
    if len(ngrams) < len(found) - 1 or any(each != parse(each.type) for each in ngrams):
        message = "a chain has one method with a model, and n-gram methods have their usual sizes"
        raise UsageError(message)
    return ChainRequest(parts=tuple(found))


def _without_controller(text: str) -> tuple[str, str | None]:
    """The sizes, and the name behind `controller=`."""
    pairs = [pair.strip() for pair in text.split(",")]
    names = [pair.partition("=")[2].strip() for pair in pairs if pair.startswith("controller=")]
    sizes = ",".join(pair for pair in pairs if not pair.startswith("controller="))
    return sizes, names[-1] if names else None


def _controlled(request: MethodRequest, name: str) -> MethodRequest:
    """The request for an engine that changes the depth by itself."""
    if not _NAME.fullmatch(name):
        message = f"{request.type}: controller must be a name like autotune, not {name!r}"
        raise UsageError(message)
    if isinstance(request, DraftModelRequest | DraftHeadRequest):
        return replace(request, controller=name)
    if isinstance(request, submission.Ngram):
        ngram: AnyNgram = structs.replace(request, adaptive=True, controller=name)
        return ngram
    message = f"{request.type}: its depth is the one that it is given, nothing changes it"
    raise UsageError(message)


def method_type(request: MethodRequest) -> str:
    """The type that the format gives the method of a request."""
    return request.type


def signature(name: str) -> str:
    """`prompt-lookup:n_max=8,ngram_min=2,ngram_max=4`: a method as it is written, with defaults."""
    options = METHODS[name].defaults.items()
    sizes = ",".join(f"{key}={value:g}" for key, value in options if value is not None)
    return f"{name}:{sizes}" if sizes else name


def _draft_model(name: str, options: _Options) -> DraftModelRequest:
    n_max, n_min = _depths(name, options)
    return DraftModelRequest(n_max=n_max, n_min=n_min, p_min=options.get("p_min"))


def _head(name: str, options: _Options) -> DraftHeadRequest:
    n_max, n_min = _depths(name, options)
    return DraftHeadRequest(type=name, n_max=n_max, n_min=n_min, p_min=options.get("p_min"))


def _prompt_lookup(name: str, options: _Options) -> submission.PromptLookup:
    shortest, longest = int(options["ngram_min"]), int(options["ngram_max"])
    if shortest > longest:
        message = f"{name}: ngram_min={shortest} exceeds ngram_max={longest}"
        raise UsageError(message)
    return submission.PromptLookup(
        n_max=int(options["n_max"]), ngram_min=shortest, ngram_max=longest
    )


def _ngram(name: str, options: _Options) -> AnyNgram:
    if "n_max" in options:
        _depths(name, options)
    sizes = {key: int(value) for key, value in options.items()}
    ngram: AnyNgram = METHOD_CLASSES[name](**sizes)
    return ngram


def _oracle(_name: str, options: _Options) -> submission.Oracle:
    return submission.Oracle(n_max=int(options["n_max"]), acceptance=options["acceptance"])


def _forced(name: str, options: _Options) -> ForcedRequest:
    n_max, length = int(options["n_max"]), options["length"]
    if length > n_max + 1:
        message = f"{name}: length={length:g} exceeds n_max + 1, the most that a round can yield"
        raise UsageError(message)
    return ForcedRequest(n_max=n_max, length=length)


def _depths(name: str, options: _Options) -> tuple[int, int | None]:
    n_max = int(options["n_max"])
    n_min = int(options["n_min"]) if "n_min" in options else None
    if n_min is not None and n_min > n_max:
        message = f"{name}: n_min={n_min} exceeds n_max={n_max}, so nothing would be drafted"
        raise UsageError(message)
    return n_max, n_min


_BUILDERS: Mapping[type, Callable[[str, _Options], MethodRequest]] = {
    submission.DraftModel: _draft_model,
    submission.DraftHead: _head,
    submission.PromptLookup: _prompt_lookup,
    submission.Ngram: _ngram,
    submission.NoSpeculation: lambda _name, _options: submission.NoSpeculation(),
    submission.EmptyDraft: lambda _name, _options: submission.EmptyDraft(),
    submission.Oracle: _oracle,
    submission.Forced: _forced,
}


def _builder(cls: type) -> Callable[[str, _Options], MethodRequest]:
    return next(build for family, build in _BUILDERS.items() if issubclass(cls, family))


def _kind(entry: MethodEntry) -> MethodKind:
    return MethodKind(
        summary=entry.summary,
        build=partial(_builder(METHOD_CLASSES[entry.id]), entry.id),
        defaults={**entry.defaults, **dict.fromkeys(entry.optional)},
    )


METHODS = {name: _kind(entry) for name, entry in vocabulary.METHODS.items() if entry.runners}

_DEEPEST = 256
_LEAST = {"n_min": 0}
_SHARES = ("acceptance", "p_min")
_LENGTH = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{1,4})?")
_SHARE = re.compile(r"[01](?:\.[0-9]{1,4})?")


def _options(name: str, text: str, known: Mapping[str, float | None]) -> _Options:
    pairs = [pair for pair in text.split(",") if pair.strip()]
    return dict(_option(name, pair, known) for pair in pairs)


def _option(name: str, pair: str, known: Mapping[str, float | None]) -> tuple[str, float]:
    key, _, value = (part.strip() for part in pair.partition("="))
    if key not in known:
        hint = suggestion(key, known) if known else " It has no options."
        message = f"{name} has no option {key!r}.{hint}"
        raise UsageError(message)
    if key in _SHARES:
        return key, _share(name, key, value)
    if key == "length":
        return key, _length(name, key, value)
    least = _LEAST.get(key, 1)
    if not value.isdecimal() or not least <= int(value) <= _DEEPEST:
        message = f"{name}: {key} must be a whole number from {least} to {_DEEPEST}, not {value!r}"
        raise UsageError(message)
    return key, int(value)


def _length(name: str, key: str, value: str) -> float:
    if not _LENGTH.fullmatch(value) or float(value) > _DEEPEST + 1:
        message = f"{name}: {key} must be a number from 1 to {_DEEPEST + 1} like 2.5, not {value!r}"
        raise UsageError(message)
    return float(value)


def _share(name: str, key: str, value: str) -> float:
    if not _SHARE.fullmatch(value) or float(value) > 1:
        message = f"{name}: {key} must be a number from 0 to 1 like 0.7, not {value!r}"
        raise UsageError(message)
    return float(value)
