"""Which arms does a campaign have? The baseline, one for each method and draft, and the rivals."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.arm_ids import label
from harness.drafts import drafts_of, needs_draft
from harness.errors import BadInputError
from harness.methods import DraftHeadRequest, DraftModelRequest, method_type
from harness.model import ALL_LAYERS, ArmPlan, ModelFile
from schemas.submission import (
    DraftHead,
    DraftModel,
    EmptyDraft,
    Ngram,
    NoSpeculation,
    Oracle,
    PromptLookup,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.methods import MethodRequest, PlainRequest
    from schemas.submission import Method, Role

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
