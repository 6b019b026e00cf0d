"""Builds the campaign from the options, models and suite, without loading a model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.campaign import model
from harness.campaign.arms import arms as all_arms
from harness.campaign.arms import with_own_ids
from harness.campaign.axis_options import with_defaults
from harness.campaign.method_parser import parse
from harness.campaign.options import Options
from harness.campaign.suite import first_of_each_task
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from harness.models.thinking import OUTPUT_TOKENS
from planner.presets import DEFAULT_TARGET
from schemas import private
from schemas.method import DRAFT_MODEL, Method
from schemas.strict import MAX_BYTES
from schemas.vocabulary import DEFAULT_RUNNER, FIXED_TASKS, METHODS, RUNNERS, RunnerEntry, say

DEFAULT_RUNNER_ENTRY = RUNNERS[DEFAULT_RUNNER]
_CONTROLS = tuple(Method(type=entry.id) for entry in METHODS.values() if entry.control)
# Prompts differ more than repeats do, so a campaign spends its time on prompts: two blocks, and a
# third answer for a prompt whose two times disagree, as after a disturbance.
DEFAULT_BLOCKS = 2
REPEAT_BEYOND = 0.15
# It takes at least three blocks to show how blocks differ.
LEAST_BLOCKS = 3
QUICK_BLOCKS = 1
DEFAULT_SUITE, SHORT_SUITE = "core", "short"
_FIRST_METHODS, _FIRST_TOKENS = (parse(DRAFT_MODEL),), 64
_TASKS = len(FIXED_TASKS)
_MOST_ARMS = 32  # the file format's limit for $.arms
MOST_TRIALS = 4096  # the file format's limit for $.trials
_OTHER_BYTES = 24 * 1024  # machine, suite, snapshots, probes: 6 KB in measured files
_TRIAL_BYTES = 440  # without ids and histograms
_BYTES_PER_DEPTH = 16
_FEWER_PROMPTS = 4  # per task, if a result file has no room for all
# Drafted tokens occupy context before they are verified; engines reserve context in steps.
_ROOM_FOR_DRAFTS, _WHOLE_TOKENS = 64, 256
# Options that do not change the profile of a campaign.
_OF_ANY_PROFILE = (
    *("target", "drafts", "threads", "gpu_layers", "draft_gpu_layers", "quick", "seed"),
    *("budget_min", "control"),
)


def build(
    options: Options,
    *,
    target: ModelFile,
    drafts: tuple[ModelFile, ...],
    methods: tuple[Method, ...],
    suite: model.PromptSuite,
    runner: RunnerEntry = DEFAULT_RUNNER_ENTRY,
) -> model.Campaign:
    """Build the campaign that a runner measures, with the controls it supports if --control is set.

    Raises `BadInputError` if the campaign cannot be run or does not fit the file format.
    """
    drafts = with_own_ids(drafts)
    controls = [each for each in _CONTROLS if each.type in runner.methods and options.control]
    methods += tuple(each for each in controls if each not in methods)
    layers, levels = options.baseline_gpu_layers, options.concurrency
    arms = all_arms(methods, drafts, baseline_gpu_layers=layers, concurrency=levels)
    settings, blocks = _settings(options, suite), _blocks(options, runner)
    most = most_blocks(arms, suite, settings.max_output_tokens)
    if most < blocks and not (options.blocks or options.prompts):
        suite = replace(suite, prompts=first_of_each_task(suite.prompts, _FEWER_PROMPTS))
        most = most_blocks(arms, suite, settings.max_output_tokens)
    campaign = model.Campaign(
        profile=profile(options),
        target=target,
        drafts=drafts,
        arms=arms,
        suite=suite,
        settings=settings,
        blocks=blocks,
        seed=options.seed,
        stopping=_stopping(options, repeats=blocks == DEFAULT_BLOCKS < most),
        interleaved=runner.interleaved,
    )
    for misfit in _misfits(campaign, has_context="context_tokens" not in runner.ignores):
        raise BadInputError(misfit)
    return campaign


def profile(options: Options) -> model.Profile:
    """Return `default` or `quick`; `custom` if options such as --prompts or --blocks are given.

    Different models, GPU layers or threads keep the profile: the result file records these
    settings, and results stay comparable. Controls, a seed and a time budget keep the profile,
    too.
    """
    usual = Options(**{name: getattr(options, name) for name in _OF_ANY_PROFILE})
    if options != usual:
        return "custom"
    return "quick" if options.quick else "default"


def first_look(options: Options) -> Options:
    """Return the options of --quick for a runner that alternates arms pass by pass, as servers do.

    A single pass of each arm supports no verdict, even with many prompts, so the run has one prompt
    of each task in three blocks. A server reads every prompt again for each arm and block; on a
    CPU, this reading took 85 % of the time. With the default target, such a run therefore gets
    prompts of one or two lines, a single method, and answers that are long enough for a verdict.
    """
    if not options.quick or options.blocks is not None:
        return options
    chosen = options.prompts or options.tasks or max(options.concurrency, default=1) > _TASKS
    look = replace(options, blocks=LEAST_BLOCKS, prompts=options.prompts if chosen else ("1",))
    if options.target != DEFAULT_TARGET or chosen or options.suite:
        return look
    return replace(
        look,
        suite=SHORT_SUITE,
        methods=options.methods or _FIRST_METHODS,
        max_output_tokens=options.max_output_tokens or _FIRST_TOKENS,
    )


def _blocks(options: Options, runner: RunnerEntry) -> int:
    """Return the number of blocks to plan.

    If the arms alternate pass by pass, each arm needs several passes, to show how much passes
    differ.
    """
    if options.blocks is not None:
        return options.blocks
    if options.quick:
        return QUICK_BLOCKS
    return LEAST_BLOCKS if runner.interleaved == "block" else DEFAULT_BLOCKS


def _stopping(options: Options, *, repeats: bool) -> model.Stopping:
    return model.Stopping(
        budget_s=None if options.budget_min is None else 60 * options.budget_min,
        repeat_beyond=REPEAT_BEYOND if repeats and options.blocks is None else None,
    )


def _settings(options: Options, suite: model.PromptSuite) -> model.RunSettings:
    usual = suite.quick_max_output_tokens if options.quick else suite.max_output_tokens
    thinking = OUTPUT_TOKENS if options.thinking else 0
    length = options.max_output_tokens or max(usual, thinking)
    return model.RunSettings(
        max_output_tokens=length,
        # Engines round the context up; without this, validation would reject their longer answers.
        context_tokens=-(-(options.context_tokens or 0) // _WHOLE_TOKENS) * _WHOLE_TOKENS
        or context_for(options.context_depth_tokens, length),
        threads=options.threads,
        gpu_layers=model.ALL_LAYERS if options.gpu_layers is None else options.gpu_layers,
        draft_gpu_layers=(
            model.ALL_LAYERS if options.draft_gpu_layers is None else options.draft_gpu_layers
        ),
        thinking=options.thinking,
        **with_defaults(options),
    )


def context_for(depth: int | None, output_tokens: int) -> int:
    """Return the context size: the default, or more if the context depth needs it."""
    needed = depth + output_tokens + _ROOM_FOR_DRAFTS if depth else 0
    return max(model.DEFAULT_CONTEXT_TOKENS, -(-needed // _WHOLE_TOKENS) * _WHOLE_TOKENS)


def most_blocks(arms: Sequence[model.ArmPlan], suite: model.PromptSuite, output_tokens: int) -> int:
    """Return the number of blocks that fit into a result file."""
    block_bytes = sum(
        trial_bytes(arm.id, arm.method.n_max or 0, prompt.id, output_tokens)
        for arm in arms
        for prompt in suite.prompts
    )
    trials = len(arms) * len(suite.prompts)
    return min(MOST_TRIALS // trials, (MAX_BYTES - _OTHER_BYTES) // block_bytes)


def trial_bytes(arm: str, depth: int, prompt: str, output_tokens: int) -> int:
    """Return a size in bytes that a trial in a result file almost never exceeds."""
    return _TRIAL_BYTES + len(arm) + len(prompt) + _BYTES_PER_DEPTH * min(depth, output_tokens)


def _misfits(campaign: model.Campaign, *, has_context: bool) -> Iterator[str]:
    """Yield why a campaign cannot be run or does not fit the file format."""
    arms, prompts, settings = campaign.arms, len(campaign.suite.prompts), campaign.settings
    twice = [arm for arm, times in Counter(arm.id for arm in arms).items() if times > 1]
    most = most_blocks(arms, campaign.suite, settings.max_output_tokens)
    level = max(arm.concurrency for arm in arms)
    if twice:
        yield f"the arm {twice[0]} is requested twice; give each --method and --draft once"
    if len(arms) > _MOST_ARMS:
        yield f"{len(arms)} arms are too many; a result file holds {_MOST_ARMS} at most"
    if level > prompts:
        yield (
            f"{level} concurrent requests need at least {level} prompts, but {prompts} are "
            "selected: use more --prompts or a lower --concurrency"
        )
    if most < 1:
        yield (
            f"{prompts} prompts with {len(arms)} arms are too many for a result file: use fewer "
            "--prompts, --method or --draft"
        )
    if campaign.blocks > most:
        yield (
            f"{len(arms)} arms in {say.count(campaign.blocks, 'block')} are too many for one "
            f"result file; use --blocks {most}, or fewer --prompts, --concurrency, --method or "
            "--draft"
        )
    yield from _contradictions(campaign, has_context=has_context)
    yield from _private_names(campaign)


def _contradictions(campaign: model.Campaign, *, has_context: bool) -> Iterator[str]:
    """Yield why the settings contradict each other or exceed the context."""
    settings = campaign.settings
    depth, length = settings.context_depth_tokens, settings.max_output_tokens
    if has_context and depth is not None and depth + length > settings.context_tokens:
        yield (
            f"--context-depth {depth} and {length} tokens of output do not fit into --context "
            f"{settings.context_tokens}; raise --context, or leave it out"
        )
    if has_context and length >= settings.context_tokens:
        yield (
            f"a context of {settings.context_tokens} tokens leaves no room for prompts and "
            f"{length} tokens of output; raise --context"
        )


def _private_names(campaign: model.Campaign) -> Iterator[str]:
    """Yield why a model's name must not be published."""
    for each in (campaign.target, *campaign.drafts):
        for path, text in private.texts(each.model):
            if found := private.found(text, path):
                yield (
                    f"the {path.removeprefix('$.')} of a model contains {found}, and a result is "
                    "public forever: rename the file, or give the model's public name"
                )
