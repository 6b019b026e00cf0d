"""Makes the arms of a campaign: the baseline, one per method and draft, and alternatives."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Required, TypedDict, assert_never

from harness.campaign.methods import (
    ChainRequest,
    DraftHeadRequest,
    DraftModelRequest,
    ForcedRequest,
    MethodRequest,
    PlainRequest,
    method_type,
)
from harness.campaign.model import ALL_LAYERS, ArmPlan
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from schemas import submission
from schemas.codec import slug
from schemas.method import METHOD_CLASSES, AnyDraftHead
from schemas.vocabulary import METHODS


class _Sizes(TypedDict, total=False):
    """What a draft model and a draft head have in common."""

    n_max: Required[int]
    n_min: int | None
    p_min: float | None
    adaptive: bool
    controller: str


Drafted = DraftModelRequest | DraftHeadRequest | ForcedRequest

# Words in the architecture of a draft head's file: `eagle3`, `dflash`, `dflash-draft`.
_HEADS = {
    word for entry in METHODS.values() if entry.draft == "required" for word in entry.architectures
}


def takes_draft(request: MethodRequest) -> bool:
    """Whether a draft can belong to the method."""
    if isinstance(request, ChainRequest):
        return request.model is not None
    return isinstance(request, DraftModelRequest | DraftHeadRequest | ForcedRequest)


def needs_draft(request: MethodRequest) -> bool:
    """Whether the method requires a draft."""
    if isinstance(request, ChainRequest):
        return request.model is not None and needs_draft(request.model)
    return METHODS[method_type(request)].draft == "required"


def drafts_of(
    request: Drafted, drafts: Sequence[ModelFile], *, among: Iterable[MethodRequest]
) -> list[ModelFile]:
    """The drafts that a method of the campaign is run with.

    All of them if no other type of method takes drafts; else those whose architecture matches, and
    for a draft model those that are not heads.
    """
    types = {method_type(each) for each in among if takes_draft(each)}
    if len(types) == 1:
        return list(drafts)
    if isinstance(request, DraftModelRequest | ForcedRequest):
        return [draft for draft in drafts if not _is(draft, *_HEADS)]
    # An architecture that is another method's own name is that method's, if it is asked for too.
    words = METHODS[request.type].architectures
    names = [word for word in words if word == request.type or word not in types]
    return [draft for draft in drafts if _is(draft, *names)]


def _is(draft: ModelFile, *names: str) -> bool:
    architecture = (draft.model.architecture or "").lower()
    return any(name in architecture for name in names)


def label(request: MethodRequest) -> str:
    """The id of a request's arm, where there is only one draft: `prompt-lookup-n8`."""
    match request:
        case submission.NoSpeculation() | submission.EmptyDraft():
            return METHODS[request.type].control or request.type
        case DraftModelRequest() | DraftHeadRequest():
            depth = f"n{request.n_max}" if request.controller is None else slug(request.controller)
            return _joined(f"{method_type(request)}-{depth}", m=request.n_min, p=request.p_min)
        case ForcedRequest():
            return f"{request.type}-l{request.length:g}-n{request.n_max}"
        case submission.Oracle():
            return f"{request.type}-a{request.acceptance:g}-n{request.n_max}"
        case submission.PromptLookup():
            lengths = (request.ngram_min, request.ngram_max)
            usual = METHODS[request.type].defaults
            is_usual = lengths == (usual["ngram_min"], usual["ngram_max"])
            tail = "" if is_usual else f"-g{lengths[0]}-{lengths[1]}"
            return f"{request.type}-n{request.n_max}{tail}"
        case submission.Ngram() | ChainRequest():
            return _ngram(request)
        case _ as never:
            assert_never(never)


def _ngram(request: submission.Ngram | ChainRequest) -> str:
    if isinstance(request, ChainRequest):
        return "-then-".join(request.types)
    usual = METHODS[request.type].defaults
    changed = request.controller
    return _joined(
        request.type if changed is None else f"{request.type}-{slug(changed)}",
        n=request.n_max if changed is None else None,
        g=None if request.ngram_size == usual.get("ngram_size") else request.ngram_size,
        m=None if request.n_min == usual.get("n_min") else request.n_min,
        h=None if request.min_hits == usual.get("min_hits") else request.min_hits,
    )


def _joined(name: str, **sizes: float | None) -> str:
    """`name-n8-g4`: a letter and its value for each size that is given."""
    parts = (f"-{letter}{value:g}" for letter, value in sizes.items() if value is not None)
    return name + "".join(parts)


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
    return tuple(_at_level(arm, level) for level in levels for arm in once)


def with_own_ids(drafts: tuple[ModelFile, ...]) -> tuple[ModelFile, ...]:
    """The drafts with unique ids, even where two files have the same name."""
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
    arms = [ArmPlan(id=BASELINE, role="baseline", method=submission.NoSpeculation())]
    for request in methods:
        match request:
            case submission.PromptLookup() | submission.Ngram():
                arms.append(_arm(request, "speculation"))
            case submission.EmptyDraft() | submission.NoSpeculation() | submission.Oracle():
                arms.append(_arm(request, "control"))
            case DraftModelRequest() | DraftHeadRequest() | ForcedRequest():
                arms += _drafted(request, drafts_of(request, drafts, among=methods))
            case ChainRequest():
                arms.append(_chained(request, drafts))
    return tuple(arms)


def _chained(request: ChainRequest, drafts: Sequence[ModelFile]) -> ArmPlan:
    """One arm; a campaign with a chain has one draft, if any."""
    if len(drafts) > 1 or (needs_draft(request) and not drafts):
        message = f"the chain {'+'.join(request.types)} takes one draft; name it with --draft"
        raise BadInputError(message)
    n_max = None if request.model is None else request.model.n_max
    method = submission.OtherMethod(
        name="+".join(request.types), n_max=n_max, chain=tuple(request.types)
    )
    return ArmPlan(id=label(request), role="speculation", method=method, baseline=BASELINE)


def _arm(request: PlainRequest, role: submission.Role) -> ArmPlan:
    return ArmPlan(id=label(request), role=role, method=request, baseline=BASELINE)


def _drafted(request: Drafted, drafts: list[ModelFile]) -> Iterator[ArmPlan]:
    """One arm for each matching draft; a head in the target's own file has one without."""
    name = label(request)
    if not drafts and needs_draft(request):
        message = f"none of the drafts is for {method_type(request)}; add one with --draft"
        raise BadInputError(message)
    ids: list[str | None] = [draft.model.id for draft in drafts]
    for draft in ids or [None]:
        yield ArmPlan(
            id=name if draft is None or len(ids) == 1 else _id(name, draft),
            role="control" if isinstance(request, ForcedRequest) else "speculation",
            method=_method(request, draft),
            baseline=BASELINE,
        )


def _method(request: Drafted, draft: str | None) -> submission.Method:
    if isinstance(request, ForcedRequest):
        return submission.Forced(draft=draft, n_max=request.n_max, length=request.length)
    if isinstance(request, DraftHeadRequest):
        head: AnyDraftHead = METHOD_CLASSES[request.type](draft=draft, **_sizes(request))
        return head
    return submission.DraftModel(draft=str(draft), **_sizes(request))


def _sizes(request: DraftModelRequest | DraftHeadRequest) -> _Sizes:
    sizes = _Sizes(n_max=request.n_max, n_min=request.n_min, p_min=request.p_min)
    if request.controller is not None:
        sizes["adaptive"], sizes["controller"] = True, request.controller
    return sizes


def _alternatives(layers: int | None) -> Iterator[ArmPlan]:
    """The baseline with all memory for the target, as it would run without speculation.

    It comes last, so that what the other arms share is loaded only once before it.
    """
    if layers is None:
        return
    name = "all" if layers == ALL_LAYERS else str(layers)
    yield ArmPlan(
        id=f"{BASELINE}-gpu-layers-{name}",
        role="alternative",
        method=submission.NoSpeculation(),
        baseline=BASELINE,
        gpu_layers=layers,
    )


def _at_level(arm: ArmPlan, level: int) -> ArmPlan:
    """The arm at a level of concurrency, compared with the baseline at the same level."""
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
