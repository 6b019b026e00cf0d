"""Which arguments start a llama-server for one arm? Every value is said; no default is trusted.

Defaults moved silently between builds (the depth from 16 to 3, the least probability from 0.75 to
0), and a draft model without a type is loaded and never asked. What a binary has no flag for is
left out only where leaving it out means the same.
"""

from pathlib import Path
from typing import assert_never

from harness.campaign.model import ArmPlan, Campaign, layers_of
from harness.runners.base import Failure
from harness.runners.llama_server.binary import Abilities
from schemas.submission import (
    DraftHead,
    DraftModel,
    EmptyDraft,
    Method,
    Ngram,
    NoSpeculation,
    Oracle,
    OtherMethod,
    PromptLookup,
)
from schemas.vocabulary import METHODS, LlamaCpp

HOST = "127.0.0.1"


class _UnknownToBinaryError(Exception):
    """The binary has no word for something that the arm needs."""


def arguments(
    arm: ArmPlan, campaign: Campaign, *, abilities: Abilities, port: int, threads: int
) -> tuple[str, ...] | Failure:
    """The arguments after the program's name, or why this binary cannot run the arm."""
    words = _Words(abilities)
    _common(words, arm, campaign, port=port, threads=threads)
    try:
        _speculation(words, arm.method, campaign)
    except _UnknownToBinaryError as error:
        return Failure(reason="other", detail=f"this llama-server has no {error}")
    return tuple(words.argv)


class _Words:
    """The arguments so far, and what the binary understands."""

    def __init__(self, abilities: Abilities) -> None:
        self.abilities = abilities
        self.argv: list[str] = []

    def need(self, value: object, *names: str) -> None:
        """Add a flag with its value. Raises `_UnknownToBinaryError` when no name is known."""
        name = self.abilities.first(*names)
        if name is None:
            raise _UnknownToBinaryError(names[0])
        self.argv += [name, str(value)]

    def offer(self, value: object | None, *names: str) -> None:
        """Add a flag, with its value unless that is `None`, where the binary knows it."""
        name = self.abilities.first(*names)
        if name is not None:
            self.argv += [name] if value is None else [name, str(value)]


def _common(words: _Words, arm: ArmPlan, campaign: Campaign, *, port: int, threads: int) -> None:
    settings = campaign.settings
    words.argv += ["-m", str(campaign.target.on_disk), "--host", HOST, "--port", str(port)]
    slots = arm.concurrency
    words.argv += ["-c", str(slots * settings.context_tokens), "-np", str(slots)]
    words.argv += ["-t", str(threads), "-tb", str(threads)]
    words.argv += ["-b", str(settings.batch_tokens), "-ub", str(settings.batch_tokens)]
    words.argv += ["-ngl", _layers(layers_of(arm, settings))]
    if "-fa" in words.abilities.takes_value:
        words.argv += ["-fa", "auto"]
    words.offer("f16", "-ctk", "--cache-type-k")
    words.offer("f16", "-ctv", "--cache-type-v")
    words.offer("off", "--fit")
    words.offer(0, "--cache-ram")
    words.offer(None, "--no-webui", "--no-ui")
    words.offer(None, "--metrics")
    if words.abilities.hides_layers:
        words.argv += ["-lv", "4"]


def _speculation(words: _Words, method: Method, campaign: Campaign) -> None:
    match method:
        case NoSpeculation():
            if words.abilities.spec_types:
                words.argv += ["--spec-type", "none"]
        case DraftModel():
            _with_draft(words, method.draft, campaign)
            _type(words, method)
            _depth(words, method)
        case DraftHead():
            if method.draft is not None:
                _with_draft(words, method.draft, campaign)
            _type(words, method)
            _depth(words, method)
        case Ngram():
            _type(words, method)
            _ngram(words, method)
        case PromptLookup() | Oracle() | EmptyDraft() | OtherMethod():
            message = f"method {method.type}; it is one of the in-process runner"
            raise _UnknownToBinaryError(message)
        case _ as never:
            assert_never(never)


def _with_draft(words: _Words, draft: str, campaign: Campaign) -> None:
    words.need(draft_path(draft, campaign), "-md", "--model-draft", "--spec-draft-model")
    words.need(_layers(campaign.settings.draft_gpu_layers), "-ngld", "--spec-draft-ngl")


def draft_path(draft: str, campaign: Campaign) -> Path:
    """Where the weights of a draft of the campaign lie."""
    return next(item.on_disk for item in campaign.drafts if item.model.id == draft)


def _type(words: _Words, method: DraftModel | DraftHead | Ngram) -> None:
    """Say the type; builds without `--spec-type` know draft models only and need no word."""
    offered = words.abilities.spec_types
    known = next((name for name in _flags(method.type).types if name in offered), None)
    if known is not None:
        words.argv += ["--spec-type", known]
    elif not isinstance(method, DraftModel):
        it = f"offers {', '.join(offered)}" if offered else "knows draft models only"
        message = f"method {method.type} (it {it})"
        raise _UnknownToBinaryError(message)


def _depth(words: _Words, method: DraftModel | DraftHead) -> None:
    flags = _flags(method.type)
    if method.n_max is not None:
        words.need(method.n_max, *flags.n_max)
    words.need(method.n_min or 0, *flags.n_min)
    words.need(method.p_min or 0, *flags.p_min)


def _ngram(words: _Words, method: Ngram) -> None:
    flags = _flags(method.type)
    for size in ("ngram_size", "n_min", "n_max", "min_hits"):
        names, value = getattr(flags, size), getattr(method, size)
        if names:
            # Some types have no hits to count; one hit is what they all mean then.
            say = words.offer if size == "min_hits" and value == 1 else words.need
            say(_said(value), *names)


def _flags(kind: str) -> LlamaCpp:
    """What the builds of llama.cpp call a method and its sizes."""
    found = METHODS[kind].llama_cpp
    if found is None:
        message = f"method {kind}"
        raise _UnknownToBinaryError(message)
    return found


def _said(value: int | None) -> int:
    """A size that the campaign must state: no build's default may decide it."""
    if value is None:
        message = "a size of the n-gram method is missing from the campaign"
        raise ValueError(message)
    return value


def _layers(count: int) -> str:
    """Layers on the GPU; all of them is more than any model has, which every build understands."""
    return "999" if count < 0 else str(count)
