"""`draftmap run`: measure, write the result file, print the verdict."""

from harness.campaign.build import Options
from harness.campaign.duration import expected, memory_bandwidth
from harness.campaign.methods import parse
from harness.campaign.model import Campaign
from harness.campaign.plan import plan
from harness.cli import console
from harness.cli.engine import ChosenEngine, Contribution, Wanted, legs
from harness.cli.options import campaign, engine, result, running
from harness.cli.session import measure
from harness.errors import UsageError
from harness.report.plan import lines as plan_lines
from harness.runners.base import ConnectionOptions
from schemas.codec import Json, encode

_MOST_IN_FLIGHT = 4096  # as the format has it


@console.reports_errors
def run(  # noqa: PLR0913 - each argument is an option of the command
    *,
    target: campaign.Target = None,
    draft: campaign.Draft = None,
    method: campaign.Method = None,
    suite: campaign.Suite = None,
    tasks: campaign.Tasks = None,
    prompts: campaign.Prompts = None,
    max_tokens: campaign.MaxTokens = None,
    blocks: campaign.Blocks = None,
    precision: campaign.Precision = None,
    budget: campaign.Budget = None,
    control: campaign.Control = False,
    quick: campaign.Quick = False,
    teacher_forced: campaign.TeacherForced = False,
    context: running.Context = None,
    threads: running.Threads = None,
    gpu_layers: running.GpuLayers = None,
    draft_gpu_layers: running.DraftGpuLayers = None,
    baseline_gpu_layers: running.BaselineGpuLayers = None,
    runner: engine.Runner = "llama-cpp-python",
    server_binary: engine.ServerBinary = None,
    base_url: engine.BaseUrl = None,
    spec_base_url: engine.SpecBaseUrl = None,
    server_command: engine.ServerCommand = None,
    spec_server_command: engine.SpecServerCommand = None,
    served_model: engine.ServedModel = None,
    backend: engine.Backend = None,
    concurrency: engine.Concurrency = None,
    startup_timeout: engine.StartupTimeout = 300.0,
    answer_timeout: engine.AnswerTimeout = 900.0,
    seed: running.Seed = 0,
    resume: running.Resume = False,
    plan_only: running.PlanOnly = False,
    output: result.Output = None,
    contributor: result.Contributor = None,
    notes: result.Notes = None,
    json: result.Json = False,
) -> None:
    """Measure this machine and write one result file.

    With no option at all it works: a small embedded model, two ways of drafting, the core suite.

    - `python -m harness run --quick` for a first look

    - `python -m harness run --target qwen3-8b` for a model of the hub with the draft that fits

    - `python -m harness run --target big.gguf --draft small.gguf --method draft-model:n_max=3`
    """
    options = Options(
        target=target,
        drafts=tuple(draft or ()),
        methods=tuple(parse(text) for text in method or ()),
        suite=suite,
        tasks=_split(tasks),
        prompts=_split(prompts),
        max_tokens=max_tokens,
        blocks=blocks,
        precision=precision,
        budget_min=budget,
        control=control,
        context=context,
        threads=threads,
        gpu_layers=gpu_layers,
        draft_gpu_layers=draft_gpu_layers,
        baseline_gpu_layers=baseline_gpu_layers,
        teacher_forced=teacher_forced,
        quick=quick,
        seed=seed,
        concurrency=_levels(concurrency),
    )
    reach = ConnectionOptions(
        base_url=base_url,
        spec_base_urls=tuple(spec_base_url or ()),
        server_command=server_command,
        spec_server_commands=tuple(spec_server_command or ()),
        model=served_model,
        backend=backend,
        startup_limit_s=startup_timeout,
        answer_limit_s=answer_timeout,
    )
    wanted = Wanted(
        options=options,
        about=Contribution(contributor=contributor, notes=notes),
        legs=legs(ChosenEngine(name=runner, reach=reach), server_binary or ()),
        output=output,
        as_json=json,
    )
    if plan_only:
        dry_run(wanted)
    else:
        measure(wanted, resume=resume)


def _split(values: list[str] | None) -> tuple[str, ...]:
    parts = (part.strip() for value in values or () for part in value.split(","))
    names = tuple(part for part in parts if part)
    if values and not names:
        message = "an empty list of tasks or prompts; leave the option out for all"
        raise UsageError(message)
    return names


def _levels(text: str | None) -> tuple[int, ...]:
    parts = _split([text]) if text else ()
    if not all(part.isdecimal() and 1 <= int(part) <= _MOST_IN_FLIGHT for part in parts):
        message = f"--concurrency {text}: give whole numbers from 1 on, such as 1,2,4,8"
        raise UsageError(message)
    return tuple(sorted({int(part) for part in parts}))


def dry_run(wanted: Wanted) -> None:
    """Print what would run, and for how long. It fetches nothing, and refuses what a run would."""
    wanted.check()
    campaigns = wanted.campaigns(fetch=False)
    campaign = next(iter(campaigns.values()))
    commands = {leg.name: leg.engine.commands(campaigns[leg.name]) for leg in wanted.legs}
    if wanted.as_json:
        console.print_json({**_plan(campaign), "commands": _told(commands)})
    else:
        _print_plan(campaign, commands)


def _told(commands: dict[str, tuple[str, ...]]) -> Json:
    return {name: list(lines) for name, lines in commands.items() if lines}


def _print_plan(campaign: Campaign, commands: dict[str, tuple[str, ...]]) -> None:
    estimate = expected(campaign, bytes_per_s=memory_bandwidth())
    screen = console.result_console()
    for line in plan_lines(campaign, estimate):
        screen.print(line)
    for name, lines in commands.items():
        if lines:
            screen.print(f"{name or 'starts'}", style="dim")
        for line in lines:
            # Unwrapped, so that it can be copied.
            screen.print(f"  {line}", soft_wrap=True, markup=False)


def _plan(campaign: Campaign) -> dict[str, Json]:
    estimate = expected(campaign, bytes_per_s=memory_bandwidth())
    return {
        "profile": campaign.profile,
        "target": encode(campaign.target.model),
        "drafts": [encode(draft.model) for draft in campaign.drafts],
        "arms": [encode(arm) for arm in campaign.arms],
        "suite": campaign.suite.id,
        "prompts": [prompt.id for prompt in campaign.suite.prompts],
        "settings": encode(campaign.settings),
        "blocks": campaign.blocks,
        "least_blocks": campaign.least_blocks,
        "stopping": encode(campaign.stopping),
        "expected_s": round(estimate.seconds, 1) if estimate else None,
        "expected_least_s": round(estimate.least_seconds, 1) if estimate else None,
        "expected_from": estimate.basis if estimate else None,
        "trials": [encode(trial) for trial in plan(campaign)],
    }
