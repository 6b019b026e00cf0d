"""What does `--method` say? `name` or `name:key=value,key=value`, as a typed request.

A request becomes an arm once it is known which drafts there are. Every size is said, none is left
to an engine: their defaults differ from build to build.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from harness.errors import UsageError, suggestion
from schemas.submission import EmptyDraft, Ngram, NoSpeculation, Oracle, PromptLookup

HeadType = Literal["mtp", "eagle3", "dflash", "dspark"]
_SizedNgram = Literal["ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModelRequest:
    """A draft model that proposes up to `n_max` tokens; which model, `--draft` decides.

    Drafts of fewer than `n_min` tokens are not verified, and drafting stops at a token that the
    draft gives less than `p_min`; `None` is no such limit.
    """

    n_max: int
    n_min: int | None = None
    p_min: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftHeadRequest:
    """A head that was trained for the target and reads its state, in a file of its own or not."""

    type: HeadType
    n_max: int
    n_min: int | None = None
    p_min: float | None = None


# Methods without a draft are requested as the format has them.
PlainRequest = NoSpeculation | PromptLookup | Ngram | EmptyDraft | Oracle
MethodRequest = PlainRequest | DraftModelRequest | DraftHeadRequest

# What is usual is left out of an arm's id.
NGRAM_MIN = 2
NGRAM_MAX = 4
# The sizes of llama.cpp's n-gram types, by our choice. Its own ones are for long texts: an n-gram
# of 12 tokens and a draft of 48 need 61 tokens of text before the first draft, and hardly any
# answer repeats twelve tokens of itself. These are the middle of what prompt-lookup looks up, and
# its depth: so the types differ by how they look up and not by their sizes.
NGRAM_SIZE = 3
_NGRAM_DEPTH = 8
NGRAM_MOD_LEAST = 2

_Options = dict[str, float]  # whole numbers but for shares


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
    name, _, rest = text.strip().partition(":")
    known = METHODS.get(name)
    if known is None:
        message = f"unknown method {name!r}.{suggestion(name, METHODS)}"
        raise UsageError(message)
    usual = {key: value for key, value in known.defaults.items() if value is not None}
    return known.build({**usual, **_options(name, rest, known.defaults)})


def method_type(request: MethodRequest) -> str:
    """The type that the format gives the method of a request."""
    return "draft-model" if isinstance(request, DraftModelRequest) else request.type


def signature(name: str) -> str:
    """`prompt-lookup:n_max=8,ngram_min=2,ngram_max=4`: a method as it is written, with defaults."""
    options = METHODS[name].defaults.items()
    said = ",".join(f"{key}={value:g}" for key, value in options if value is not None)
    return f"{name}:{said}" if said else name


def _prompt_lookup(options: _Options) -> PromptLookup:
    shortest, longest = int(options["ngram_min"]), int(options["ngram_max"])
    if shortest > longest:
        message = f"prompt-lookup: ngram_min={shortest} exceeds ngram_max={longest}"
        raise UsageError(message)
    return PromptLookup(n_max=int(options["n_max"]), ngram_min=shortest, ngram_max=longest)


def _oracle(options: _Options) -> Oracle:
    return Oracle(n_max=int(options["n_max"]), acceptance=options["acceptance"])


def _draft_model(options: _Options) -> DraftModelRequest:
    n_max, n_min = _depths("draft-model", options)
    return DraftModelRequest(n_max=n_max, n_min=n_min, p_min=options.get("p_min"))


def _depths(name: str, options: _Options) -> tuple[int, int | None]:
    n_max = int(options["n_max"])
    n_min = int(options["n_min"]) if "n_min" in options else None
    if n_min is not None and n_min > n_max:
        message = f"{name}: n_min={n_min} exceeds n_max={n_max}, so nothing would be drafted"
        raise UsageError(message)
    return n_max, n_min


def _head(name: HeadType, depth: int, summary: str) -> MethodKind:
    def build(options: _Options) -> DraftHeadRequest:
        n_max, n_min = _depths(name, options)
        return DraftHeadRequest(type=name, n_max=n_max, n_min=n_min, p_min=options.get("p_min"))

    return MethodKind(summary=summary, build=build, defaults={"n_max": depth, **_LIMITS})


def _ngram(name: _SizedNgram, summary: str, **last: int) -> MethodKind:
    def build(options: _Options) -> Ngram:
        n_max, n_min = _depths(name, options)
        return Ngram(
            type=name,
            n_max=n_max,
            n_min=n_min,
            ngram_size=int(options["ngram_size"]),
            min_hits=int(options["min_hits"]) if "min_hits" in options else None,
        )

    defaults = {"n_max": _NGRAM_DEPTH, "ngram_size": NGRAM_SIZE, **last}
    return MethodKind(summary=summary, build=build, defaults=defaults)


# No limits unless they are asked for, on any build: a server gets 0 for both.
_LIMITS: dict[str, float | None] = {"n_min": None, "p_min": None}

METHODS: dict[str, MethodKind] = {
    "draft-model": MethodKind(
        summary="a smaller model of the same vocabulary (--draft) writes ahead",
        build=_draft_model,
        defaults={"n_max": 4, **_LIMITS},
    ),
    "prompt-lookup": MethodKind(
        summary="what followed the same n-gram before, in-process",
        build=_prompt_lookup,
        defaults={"n_max": 8, "ngram_min": NGRAM_MIN, "ngram_max": NGRAM_MAX},
    ),
    "ngram-simple": _ngram("ngram-simple", "what followed the same n-gram last", min_hits=1),
    "ngram-map-k": _ngram("ngram-map-k", "the same from a map that counts hits", min_hits=1),
    "ngram-map-k4v": _ngram(
        "ngram-map-k4v", "a map with four continuations of each n-gram", min_hits=1
    ),
    "ngram-mod": _ngram(
        "ngram-mod",
        "n-grams hashed into a pool, drafts as long as they go on",
        n_min=NGRAM_MOD_LEAST,
    ),
    "ngram-cache": MethodKind(
        summary="statistics of short n-grams; it has no sizes to set",
        build=lambda _: Ngram(type="ngram-cache"),
        defaults={},
    ),
    # vLLM's Arctic Inference method; its own depth is 24.
    "suffix": MethodKind(
        summary="what followed the longest suffix, from trees of earlier texts (vLLM)",
        build=lambda options: Ngram(type="suffix", n_max=int(options["n_max"])),
        defaults={"n_max": 24},
    ),
    # Depths as llama.cpp's guide has them: a block drafter writes its tokens in one step.
    "mtp": _head("mtp", 3, "the target's own heads for several tokens, or a file of them"),
    "eagle3": _head("eagle3", 3, "an EAGLE-3 head (--draft)"),
    "dflash": _head("dflash", 7, "a DFlash block drafter (--draft)"),
    "dspark": _head("dspark", 7, "a DSpark block drafter (--draft)"),
    "none": MethodKind(
        summary="control: the baseline again", build=lambda _: NoSpeculation(), defaults={}
    ),
    "empty-draft": MethodKind(
        summary="control: a loop that drafts nothing", build=lambda _: EmptyDraft(), defaults={}
    ),
    "oracle": MethodKind(
        summary="control: the baseline's own answer, spoiled",
        build=_oracle,
        defaults={"n_max": 4, "acceptance": 0.7},
    ),
}

_DEEPEST = 256
_LEAST = {"n_min": 0}
_SHARES = ("acceptance", "p_min")
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
    least = _LEAST.get(key, 1)
    if not value.isdecimal() or not least <= int(value) <= _DEEPEST:
        message = f"{name}: {key} must be a whole number from {least} to {_DEEPEST}, not {value!r}"
        raise UsageError(message)
    return key, int(value)


def _share(name: str, key: str, value: str) -> float:
    if not _SHARE.fullmatch(value) or float(value) > 1:
        message = f"{name}: {key} must be a number from 0 to 1 like 0.7, not {value!r}"
        raise UsageError(message)
    return float(value)
