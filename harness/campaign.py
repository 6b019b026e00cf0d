"""Which campaign follows from the options, the models and the suite? Pure; nothing is loaded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.arm_ids import label
from harness.drafts import drafts_of, needs_draft
from harness.errors import BadInputError
from harness.methods import DraftHeadRequest, DraftModelRequest, method_type
from harness.model import (
    ALL_LAYERS,
    ArmPlan,
    Campaign,
    ModelFile,
    Profile,
    RunSettings,
    Stopping,
)
from harness.size import most_blocks
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
    from collections.abc import Iterator, Sequence

    from harness.methods import MethodRequest, PlainRequest
    from harness.model import Suite
    from schemas.submission import Method, Role

BASELINE = "baseline"
DEFAULT_METHODS: tuple[MethodRequest, ...] = (
    PromptLookup(n_max=8, ngram_min=2, ngram_max=4),
    DraftModelRequest(n_max=4),
)
CONTROLS: tuple[MethodRequest, ...] = (NoSpeculation(), EmptyDraft())
# Three blocks are the fewest that show how blocks differ. After six, a seventh narrows the interval
# by an eighth: what is still too wide then needs a quieter machine and not more patience.
LEAST_BLOCKS = 3
MOST_BLOCKS = 6
QUICK_BLOCKS = 1
DEFAULT_PRECISION = 0.03
DEFAULT_SUITE = "core"
DEFAULT_CONTEXT_TOKENS = 2048
# Bounds of the format: entries of $.arms, and the length of an id.
_MOST_ARMS = 32
_ID_LENGTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person may choose about a campaign. Empty and `None` stand for the default."""

    target: str | None = None
    drafts: tuple[str, ...] = ()
    methods: tuple[MethodRequest, ...] = ()
    suite: str | None = None
    tasks: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    max_tokens: int | None = None
    blocks: int | None = None
    precision: float | None = None
    budget_min: float | None = None
    control: bool = False
    context: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None
    draft_gpu_layers: int | None = None
    baseline_gpu_layers: int | None = None
    teacher_forced: bool = False
    quick: bool = False
    concurrency: tuple[int, ...] = ()
    seed: int = 0


def build(
    options: Options,
    *,
    target: ModelFile,
    drafts: tuple[ModelFile, ...],
    methods: tuple[MethodRequest, ...],
    suite: Suite,
) -> Campaign:
    """The campaign. Raises `BadInputError` when it cannot be run or does not fit the format."""
    drafts = _with_own_ids(drafts)
    once = (*_arms(_with_controls(methods, options), drafts), *_alternatives(options))
    arms = tuple(_crowded(arm, level) for level in _levels(options) for arm in once)
    settings = _settings(options, suite)
    campaign = Campaign(
        profile=profile(options),
        target=target,
        drafts=drafts,
        arms=arms,
        suite=suite,
        settings=settings,
        blocks=_blocks(options, most=_most_blocks(arms, suite, settings)),
        seed=options.seed,
        stopping=_stopping(options),
    )
    _check(campaign)
    return campaign


def profile(options: Options) -> Profile:
    """`default` or `quick` as long as prompts, lengths, methods and repetitions are theirs.

    Another model, placement or number of threads is another rig under the same campaign: the
    result file records it, and it stays comparable. So does one that is measured for longer or
    shorter, or with controls beside it.
    """
    usual = Options(
        target=options.target,
        drafts=options.drafts,
        threads=options.threads,
        gpu_layers=options.gpu_layers,
        draft_gpu_layers=options.draft_gpu_layers,
        quick=options.quick,
        seed=options.seed,
        precision=options.precision,
        budget_min=options.budget_min,
        control=options.control,
    )
    if options != usual:
        return "custom"
    return "quick" if options.quick else "default"


def _most_blocks(arms: Sequence[ArmPlan], suite: Suite, settings: RunSettings) -> int:
    return most_blocks(arms, [prompt.id for prompt in suite.prompts], settings.max_output_tokens)


def _blocks(options: Options, *, most: int) -> int:
    """How many blocks are planned: at most as many as a result file holds, but never too few."""
    if options.blocks is not None:
        return options.blocks
    if options.quick:
        return QUICK_BLOCKS
    return max(LEAST_BLOCKS, min(MOST_BLOCKS, most))


def _stopping(options: Options) -> Stopping:
    """A number of blocks that was asked for is run; else precision decides, and time always."""
    fixed = options.blocks is not None or options.quick
    if fixed and options.precision is not None:
        given = "--quick runs one block" if options.blocks is None else "--blocks fixes them"
        message = f"{given}, --precision lets the measurement decide; leave one of them out"
        raise BadInputError(message)
    return Stopping(
        least_blocks=LEAST_BLOCKS,
        precision=None if fixed else options.precision or DEFAULT_PRECISION,
        budget_s=None if options.budget_min is None else 60 * options.budget_min,
    )


def _with_controls(
    methods: tuple[MethodRequest, ...], options: Options
) -> tuple[MethodRequest, ...]:
    """The methods, and with --control the two controls; one that was named is not run twice."""
    missing = tuple(each for each in CONTROLS if each not in methods)
    return methods + missing if options.control else methods


def _settings(options: Options, suite: Suite) -> RunSettings:
    usual = suite.quick_max_output_tokens if options.quick else suite.max_output_tokens
    return RunSettings(
        max_output_tokens=options.max_tokens or usual,
        context_tokens=options.context or DEFAULT_CONTEXT_TOKENS,
        threads=options.threads,
        gpu_layers=ALL_LAYERS if options.gpu_layers is None else options.gpu_layers,
        draft_gpu_layers=(
            ALL_LAYERS if options.draft_gpu_layers is None else options.draft_gpu_layers
        ),
        teacher_forced=options.teacher_forced,
    )


def _with_own_ids(drafts: tuple[ModelFile, ...]) -> tuple[ModelFile, ...]:
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


def _alternatives(options: Options) -> Iterator[ArmPlan]:
    """The baseline where a person would put it who does not speculate: all memory is the target's.

    It comes last, so that what the other arms share is loaded once before it.
    """
    layers = options.baseline_gpu_layers
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


def _levels(options: Options) -> tuple[int, ...]:
    return tuple(sorted(set(options.concurrency))) or (1,)


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


def _check(campaign: Campaign) -> None:
    ids = Counter(arm.id for arm in campaign.arms)
    twice = [arm for arm, times in ids.items() if times > 1]
    settings = campaign.settings
    most = _most_blocks(campaign.arms, campaign.suite, settings)
    message = None
    if twice:
        message = f"the arm {twice[0]} is asked for twice; give each --method and --draft once"
    elif len(campaign.arms) > _MOST_ARMS:
        message = f"{len(campaign.arms)} arms; a result file holds {_MOST_ARMS}: use fewer"
    elif (crowd := max(arm.concurrency for arm in campaign.arms)) > len(campaign.suite.prompts):
        message = (
            f"{crowd} requests at once need at least {crowd} prompts, and "
            f"{len(campaign.suite.prompts)} are chosen: take more --prompts or less --concurrency"
        )
    elif campaign.blocks > most:
        message = (
            f"{campaign.blocks} blocks of {len(campaign.arms)} arms are too long for a result "
            f"file, which holds {most}: use fewer --blocks, --prompts, --method or --draft"
        )
    elif settings.max_output_tokens >= settings.context_tokens:
        message = (
            f"a context of {settings.context_tokens} tokens leaves no room for prompts beside "
            f"{settings.max_output_tokens} tokens of output; raise --context"
        )
    if message:
        raise BadInputError(message)
