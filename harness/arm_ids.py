"""What is the arm of a method called? By what was asked for; what is usual goes without saying."""

from __future__ import annotations

from typing import assert_never

from harness.methods import (
    NGRAM_MAX,
    NGRAM_MIN,
    NGRAM_MOD_LEAST,
    NGRAM_SIZE,
    DraftHeadRequest,
    DraftModelRequest,
    MethodRequest,
    method_type,
)
from schemas.submission import EmptyDraft, Ngram, NoSpeculation, Oracle, PromptLookup


def label(request: MethodRequest) -> str:
    """The arm id that a request gets, if only one draft is there: `prompt-lookup-n8`."""
    match request:
        case NoSpeculation():
            return "baseline-again"
        case EmptyDraft():
            return "empty-draft"
        case DraftModelRequest() | DraftHeadRequest():
            return _joined(
                f"{method_type(request)}-n{request.n_max}", m=request.n_min, p=request.p_min
            )
        case Oracle():
            return f"oracle-a{request.acceptance:g}-n{request.n_max}"
        case PromptLookup():
            lengths = (request.ngram_min, request.ngram_max)
            tail = "" if lengths == (NGRAM_MIN, NGRAM_MAX) else f"-g{lengths[0]}-{lengths[1]}"
            return f"prompt-lookup-n{request.n_max}{tail}"
        case Ngram():
            return _ngram(request)
        case _ as never:
            assert_never(never)


def _ngram(request: Ngram) -> str:
    least = NGRAM_MOD_LEAST if request.type == "ngram-mod" else None
    return _joined(
        request.type,
        n=request.n_max,
        g=None if request.ngram_size == NGRAM_SIZE else request.ngram_size,
        m=None if request.n_min == least else request.n_min,
        h=None if request.min_hits == 1 else request.min_hits,
    )


def _joined(name: str, **sizes: float | None) -> str:
    """`name-n8-g4`: a letter and its value for each size that is said."""
    said = (f"-{letter}{value:g}" for letter, value in sizes.items() if value is not None)
    return name + "".join(said)
