"""`draftmap run`: measure, write the result file, print the verdict."""

from harness.campaign import Options
from harness.cli import talk
from harness.cli.dry import dry_run
from harness.cli.engine import ChosenEngine
from harness.cli.legs import legs
from harness.cli.options import measured, reached, result, running, servers
from harness.cli.session import measure
from harness.cli.wanted import Contribution, Wanted
from harness.errors import UsageError
from harness.methods import parse
from harness.runners import Reach

_MOST_IN_FLIGHT = 4096  # as the format has it


@talk.reports_errors
def run(  # noqa: PLR0913 - each argument is an option of the command
    *,
    target: measured.Target = None,
    draft: measured.Draft = None,
    method: measured.Method = None,
    suite: measured.Suite = None,
    tasks: measured.Tasks = None,
    prompts: measured.Prompts = None,
    max_tokens: measured.MaxTokens = None,
    blocks: measured.Blocks = None,
    precision: measured.Precision = None,
    budget: measured.Budget = None,
    control: measured.Control = False,
    quick: measured.Quick = False,
    teacher_forced: measured.TeacherForced = False,
    context: running.Context = None,
    threads: running.Threads = None,
    gpu_layers: running.GpuLayers = None,
    draft_gpu_layers: running.DraftGpuLayers = None,
    baseline_gpu_layers: running.BaselineGpuLayers = None,
    runner: reached.Runner = "llama-cpp-python",
    server_binary: reached.ServerBinary = None,
    base_url: servers.BaseUrl = None,
    spec_base_url: servers.SpecBaseUrl = None,
    server_command: servers.ServerCommand = None,
    spec_server_command: servers.SpecServerCommand = None,
    served_model: servers.ServedModel = None,
    backend: servers.Backend = None,
    concurrency: servers.Concurrency = None,
    startup_timeout: servers.StartupTimeout = 300.0,
    answer_timeout: servers.AnswerTimeout = 900.0,
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
    reach = Reach(
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
