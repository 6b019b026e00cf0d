"""Makes a campaign from the options: loads the suite, then fetches and describes the models."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.campaign import builder as campaigns
from harness.campaign import suite
from harness.campaign.arms import needs_draft, takes_draft
from harness.campaign.context_padding import fitting
from harness.campaign.method_parser import defaults, parse
from harness.campaign.model import Campaign, PromptSuite
from harness.campaign.options import Options
from harness.campaign.refusals import require_sensible
from harness.errors import BadInputError
from harness.models import compatibility
from harness.models.describe import describe
from harness.models.model_file import ModelFile, ServedModels
from harness.models.resolve import on_disk, own_head, planned, resolve
from harness.models.room import require_room
from planner.presets import DEFAULT_TARGET, default_draft
from schemas.method import DRAFT_MODEL, Method
from schemas.vocabulary import METHODS, RunnerEntry


def campaign_from(
    options: Options,
    *,
    say: Callable[[str], None],
    fetch: bool = True,
    runner: RunnerEntry = campaigns.DEFAULT_RUNNER_ENTRY,
    served: ServedModels | None = None,
) -> Campaign:
    """Make the campaign that the options describe, with its models on this disk or on servers.

    Without `fetch`, presets that are not on this disk are described from the table of presets.
    Raises `BadInputError` or `MachineError` if something is missing or does not fit.
    """
    profile = campaigns.profile(options)
    if served is None:
        options = replace(options, target=options.target or DEFAULT_TARGET)
    options = campaigns.first_look(options) if runner.interleaved == "block" else options
    chosen = _chosen_prompts(options, say)
    names = draft_names(options, runner)
    methods = usable_methods(options, names, runner)
    if served is None:
        _require_room(options, names)
    target = served.target(options.target) if served else None
    target = target or _model(options.target or DEFAULT_TARGET, say, fetch=fetch)
    if not names and not options.methods and not runner.behind_servers:
        say("No draft model is known for this target; name a draft with --draft to measure it too.")
    drafts = tuple(
        (served.draft(name) if served else None) or _model(name, say, fetch=fetch) for name in names
    )
    campaign = campaigns.build(
        options, target=target, drafts=drafts, methods=methods, suite=chosen, runner=runner
    )
    require_sensible(campaign)
    if served is None:  # vLLM can draft with another vocabulary (`use_heterogeneous_vocab`)
        _check_vocabularies(campaign)
    return replace(campaign, profile=profile)


def _require_room(options: Options, names: Sequence[str]) -> None:
    for name in names:
        on_disk(name)  # refuses an unknown draft before a target is fetched
    depth, length = options.context_depth_tokens, options.max_output_tokens or 0
    context = options.context_tokens or campaigns.context_for(depth, length)
    require_room((options.target or DEFAULT_TARGET, *names), context)


def _model(name: str, say: Callable[[str], None], *, fetch: bool) -> ModelFile:
    absent = None if fetch else planned(name)
    return absent or describe(resolve(name, say=say), say=say)


def _chosen_prompts(options: Options, say: Callable[[str], None]) -> PromptSuite:
    chosen = suite.select(
        suite.load(options.suite or campaigns.DEFAULT_SUITE),
        tasks=options.tasks,
        prompts=options.prompts,
        quick=options.quick,
    )
    depth = options.context_depth_tokens
    return fitting(chosen, depth, say) if depth else chosen


def draft_names(
    options: Options, runner: RunnerEntry = campaigns.DEFAULT_RUNNER_ENTRY
) -> tuple[str, ...]:
    """Return the drafts given, else the target preset's default draft if a method uses one."""
    methods = options.methods or defaults(runner)
    if twice := [name for name in options.drafts if options.drafts.count(name) > 1]:
        raise BadInputError(f"--draft {twice[0]} is given twice; give it once")
    if options.drafts and not any(takes_draft(method) for method in methods):
        raise BadInputError("--draft is given, but no --method uses it; add --method draft-model")
    kinds = {method.type for method in methods}
    if options.drafts or not any(k == DRAFT_MODEL or METHODS[k].instrument for k in kinds):
        return options.drafts
    if not runner.reads_gguf:
        return ()
    usual = default_draft(options.target or DEFAULT_TARGET)
    return (usual.name,) if usual else ()


def usable_methods(
    options: Options,
    drafts: Sequence[str],
    runner: RunnerEntry = campaigns.DEFAULT_RUNNER_ENTRY,
) -> tuple[Method, ...]:
    """Return the methods to run: those given, else the defaults.

    Without a draft, the defaults are the target's built-in head and the model-free methods.
    """
    if options.methods:
        lacking = [method for method in options.methods if needs_draft(method)]
        if lacking and not drafts:
            kind = "+".join(lacking[0].types)
            raise BadInputError(
                f"{kind} needs a draft for this target; name the draft with --draft"
            )
        return options.methods
    asks = not drafts and runner.reads_gguf
    head = own_head(options.target or DEFAULT_TARGET) if asks else None
    own = (parse(head),) if head in runner.methods else ()
    return own + tuple(method for method in defaults(runner) if drafts or not needs_draft(method))


def methods_named(options: Options) -> tuple[str, ...]:
    """Return the methods that the runner must support: those given.

    Without these or any draft, it is the method of the target's built-in head, if it has one.
    """
    if options.methods or options.drafts or default_draft(options.target or DEFAULT_TARGET):
        return tuple(name for method in options.methods for name in method.types)
    head = own_head(options.target or DEFAULT_TARGET)
    return (head,) if head else ()


def _check_vocabularies(campaign: Campaign) -> None:
    """Compare the vocabularies of the files on this disk before any model is loaded.

    Draft heads are skipped: they use the target's state and tokens. Raises `BadInputError` for a
    draft whose vocabulary is not compatible with the target's.
    """
    target, methods = campaign.target, [arm.method for arm in campaign.arms]
    models = {each.draft for each in methods if not METHODS[each.type].architectures}
    for draft in campaign.drafts:
        if draft.model.id in models and target.is_here and draft.is_here:
            reason = compatibility.difference(target.on_disk, draft.on_disk)
            if reason is not None:
                raise compatibility.refusal(target.model.name, draft.model.name, reason)
