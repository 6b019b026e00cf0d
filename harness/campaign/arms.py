"""Which arms does a campaign have? The baseline, one for each method and draft, and the rivals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from harness.campaign.methods import (
    NGRAM_MAX,
    NGRAM_MIN,
    NGRAM_MOD_LEAST,
    NGRAM_SIZE,
    DraftHeadRequest,
    DraftModelRequest,
    MethodRequest,
    PlainRequest,
    method_type,
)
from harness.campaign.model import ALL_LAYERS, ArmPlan, ModelFile
from harness.errors import BadInputError
from schemas.submission import (
    DraftHead,
    DraftModel,
    EmptyDraft,
    Method,
    Ngram,
    NoSpeculation,
    Oracle,
    PromptLookup,
    Role,
)

Drafted = DraftModelRequest | DraftHeadRequest

# Words in the architecture of a file that is such a head: `eagle3`, `dflash`, `dflash-draft`.
# llama.cpp keeps DSpark under DFlash's name, a fork has one for it.
_HEADS = ("eagle3", "dflash", "dspark")
# Only these heads can be part of the target's own file.
_BUILT_IN = ("mtp",)


def takes_draft(request: MethodRequest) -> bool:
    """Whether a draft can belong to the method."""
    return isinstance(request, DraftModelRequest | DraftHeadRequest)


def needs_draft(request: MethodRequest) -> bool:
    """Whether the method cannot be without a draft."""
    return takes_draft(request) and method_type(request) not in _BUILT_IN


def drafts_of(
    request: Drafted, drafts: Sequence[ModelFile], *, among: Iterable[MethodRequest]
) -> list[ModelFile]:
    """The drafts that a method of the campaign is run with.

    All of them if no other type of method takes drafts; else those whose architecture says that
    they are meant, and for a draft model those that are no head.
    """
    types = {method_type(each) for each in among if takes_draft(each)}
    if len(types) == 1:
        return list(drafts)
    if isinstance(request, DraftModelRequest):
        return [draft for draft in drafts if not _is(draft, *_HEADS)]
    shared = request.type == "dspark" and "dflash" not in types
    names = ("dspark", "dflash") if shared else (request.type,)
    return [draft for draft in drafts if _is(draft, *names)]


def _is(draft: ModelFile, *names: str) -> bool:
    said = (draft.model.architecture or "").lower()
    return any(name in said for name in names)


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


BASELINE = "baseline"
# Bound of the format: the length of an id.
_ID_LENGTH = 64


def arms(
    methods: tuple[MethodRequest, ...],
    drafts: tuple[ModelFile, ...],
    *,
    baseline_gpu_layers: int | None = None,
    concurrency: Iterable[int] = (),
) -> tuple[ArmPlan, ...]:
    """The arms of the methods, once for each level of concurrency. Raises `BadInputError`."""
    once = (*_arms(methods, drafts), *_alternatives(baseline_gpu_layers))
    levels = tuple(sorted(set(concurrency))) or (1,)
    return tuple(_crowded(arm, level) for level in levels for arm in once)


def with_own_ids(drafts: tuple[ModelFile, ...]) -> tuple[ModelFile, ...]:
    """Drafts whose ids differ even where two files are called the same."""
    seen: Counter[str] = Counter()
    named: list[ModelFile] = []
    for draft in drafts:
        seen[draft.model.id] += 1
        count = seen[draft.model.id]
        tail = f"-{count}" if count > 1 else ""
        model_id = draft.model.id[: _ID_LENGTH - len(tail)] + tail
        named.append(replace(draft, model=replace(draft.model, id=model_id)))
    return tuple(named)


def _arms(methods: tuple[MethodRequest, ...], drafts: tuple[ModelFile, ...]) -> tuple[ArmPlan, ...]:
    arms = [ArmPlan(id=BASELINE, role="baseline", method=NoSpeculation())]
    for request in methods:
        match request:
            case PromptLookup() | Ngram():
                arms.append(_arm(request, "speculation"))
            case EmptyDraft() | NoSpeculation() | Oracle():
                arms.append(_arm(request, "control"))
            case DraftModelRequest() | DraftHeadRequest():
                arms += _drafted(request, drafts_of(request, drafts, among=methods))
    return tuple(arms)


def _arm(request: PlainRequest, role: Role) -> ArmPlan:
    return ArmPlan(id=label(request), role=role, method=request, baseline=BASELINE)


def _drafted(
    request: DraftModelRequest | DraftHeadRequest, drafts: list[ModelFile]
) -> Iterator[ArmPlan]:
    """One arm for each draft that fits; a head of the target's own file has one without."""
    name = label(request)
    if not drafts and needs_draft(request):
        message = f"none of the drafts is for {method_type(request)}; name one more with --draft"
        raise BadInputError(message)
    ids: list[str | None] = [draft.model.id for draft in drafts]
    for draft in ids or [None]:
        yield ArmPlan(
            id=name if draft is None or len(ids) == 1 else _id(name, draft),
            role="speculation",
            method=_method(request, draft),
            baseline=BASELINE,
        )


def _method(request: DraftModelRequest | DraftHeadRequest, draft: str | None) -> Method:
    if isinstance(request, DraftHeadRequest):
        return DraftHead(
            type=request.type,
            draft=draft,
            n_max=request.n_max,
            n_min=request.n_min,
            p_min=request.p_min,
        )
    return DraftModel(
        draft=str(draft), n_max=request.n_max, n_min=request.n_min, p_min=request.p_min
    )


def _alternatives(layers: int | None) -> Iterator[ArmPlan]:
    """The baseline where a person would put it who does not speculate: all memory is the target's.

    It comes last, so that what the other arms share is loaded once before it.
    """
    if layers is None:
        return
    name = "all" if layers == ALL_LAYERS else str(layers)
    yield ArmPlan(
        id=f"{BASELINE}-gpu-layers-{name}",
        role="alternative",
        method=NoSpeculation(),
        baseline=BASELINE,
        gpu_layers=layers,
    )


def _crowded(arm: ArmPlan, level: int) -> ArmPlan:
    """The arm with so many requests in flight, compared with a baseline of as many."""
    if level == 1:
        return arm
    tail = f"-c{level}"
    return replace(
        arm,
        id=arm.id[: _ID_LENGTH - len(tail)] + tail,
        baseline=None if arm.baseline is None else arm.baseline + tail,
        concurrency=level,
    )


def _id(name: str, draft: str) -> str:
    return f"{name}-{draft}"[:_ID_LENGTH].rstrip("-._")
