"""Builds the campaign from options, models and suite. Pure; nothing is loaded."""

from collections import Counter
from collections.abc import Sequence

from harness.campaign import model
from harness.campaign.arms import arms as all_arms
from harness.campaign.arms import with_own_ids
from harness.campaign.methods import MethodRequest, parse
from harness.campaign.options import Options
from harness.campaign.plan import most_blocks
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from harness.models.thinking import OUTPUT_TOKENS
from schemas.submission import EmptyDraft, NoSpeculation
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS

DEFAULT_METHODS = tuple(map(parse, RUNNERS[DEFAULT_RUNNER].default_methods))
CONTROLS: tuple[MethodRequest, ...] = (NoSpeculation(), EmptyDraft())
# Three blocks are the fewest that show how blocks differ. After six, a seventh narrows the interval
# by an eighth: what is still too wide then needs a quieter machine and not more patience.
LEAST_BLOCKS = 3
MOST_BLOCKS = 6
QUICK_BLOCKS = 1
DEFAULT_PRECISION = 0.03
DEFAULT_SUITE = "core"
_MOST_ARMS = 32  # the format's bound of $.arms


def build(
    options: Options,
    *,
    target: ModelFile,
    drafts: tuple[ModelFile, ...],
    methods: tuple[MethodRequest, ...],
    suite: model.Suite,
    controls: tuple[MethodRequest, ...] = CONTROLS,
) -> model.Campaign:
    """The campaign, with `controls` where --control asks for them.

    Raises `BadInputError` when it cannot be run or does not fit the format.
    """
    drafts = with_own_ids(drafts)
    arms = all_arms(
        _with_controls(methods, controls if options.control else ()),
        drafts,
        baseline_gpu_layers=options.baseline_gpu_layers,
        concurrency=options.concurrency,
    )
    settings = _settings(options, suite)
    campaign = model.Campaign(
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


def profile(options: Options) -> model.Profile:
    """`default` or `quick` as long as prompts, lengths, methods and repetitions are theirs.

    Another model, placement or number of threads is another rig under the same campaign: the
    result file records it, and it stays comparable. So does one that is measured for longer or
    shorter, or together with controls.
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


def _most_blocks(
    arms: Sequence[model.ArmPlan], suite: model.Suite, settings: model.RunSettings
) -> int:
    return most_blocks(arms, [prompt.id for prompt in suite.prompts], settings.max_output_tokens)


def _blocks(options: Options, *, most: int) -> int:
    """How many blocks are planned: as many as a result file holds, but enough to compare."""
    if options.blocks is not None:
        return options.blocks
    if options.quick:
        return QUICK_BLOCKS
    return max(LEAST_BLOCKS, min(MOST_BLOCKS, most))


def _stopping(options: Options) -> model.Stopping:
    """A given number of blocks is run; else precision decides. The budget always holds."""
    fixed = options.blocks is not None or options.quick
    if fixed and options.precision is not None:
        option = "--quick" if options.blocks is None else "--blocks"
        message = f"{option} fixes the number of blocks, --precision lets it vary; leave one out"
        raise BadInputError(message)
    return model.Stopping(
        least_blocks=LEAST_BLOCKS,
        precision=None if fixed else options.precision or DEFAULT_PRECISION,
        budget_s=None if options.budget_min is None else 60 * options.budget_min,
    )


def _with_controls(
    methods: tuple[MethodRequest, ...], controls: tuple[MethodRequest, ...]
) -> tuple[MethodRequest, ...]:
    """The methods, and the controls that are not among them."""
    return methods + tuple(each for each in controls if each not in methods)


def _settings(options: Options, suite: model.Suite) -> model.RunSettings:
    usual = suite.quick_max_output_tokens if options.quick else suite.max_output_tokens
    if options.thinking:
        usual = max(usual, OUTPUT_TOKENS)
    return model.RunSettings(
        max_output_tokens=options.max_tokens or usual,
        context_tokens=options.context or model.DEFAULT_CONTEXT_TOKENS,
        threads=options.threads,
        gpu_layers=model.ALL_LAYERS if options.gpu_layers is None else options.gpu_layers,
        draft_gpu_layers=(
            model.ALL_LAYERS if options.draft_gpu_layers is None else options.draft_gpu_layers
        ),
        teacher_forced=options.teacher_forced,
        thinking=options.thinking,
    )


def _check(campaign: model.Campaign) -> None:
    ids = Counter(arm.id for arm in campaign.arms)
    twice = [arm for arm, times in ids.items() if times > 1]
    settings = campaign.settings
    most = _most_blocks(campaign.arms, campaign.suite, settings)
    message = None
    if twice:
        message = f"the arm {twice[0]} is requested twice; give each --method and --draft once"
    elif len(campaign.arms) > _MOST_ARMS:
        message = f"{len(campaign.arms)} arms; a result file holds {_MOST_ARMS}: use fewer"
    elif (level := max(arm.concurrency for arm in campaign.arms)) > len(campaign.suite.prompts):
        message = (
            f"{level} requests at once need at least {level} prompts, and "
            f"{len(campaign.suite.prompts)} are selected: use more --prompts or less --concurrency"
        )
    elif campaign.blocks > most:
        message = (
            f"{campaign.blocks} blocks of {len(campaign.arms)} arms are too long for a result "
            f"file, which holds {most}: use fewer --blocks, --prompts, --method or --draft"
        )
    elif settings.max_output_tokens >= settings.context_tokens:
        message = (
            f"a context of {settings.context_tokens} tokens leaves no room for prompts and "
            f"{settings.max_output_tokens} tokens of output; raise --context"
        )
    if message:
        raise BadInputError(message)
