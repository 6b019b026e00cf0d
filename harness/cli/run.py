"""`draftmap run`: measure, write the result file, print the verdict."""

from harness.campaign import Options
from harness.cli import talk
from harness.cli.options import measured, reached, result, running
from harness.cli.session import Contribution, dry_run, measure
from harness.errors import BadInputError
from harness.methods import parse


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
    )
    about = Contribution(contributor=contributor, notes=notes)
    if plan_only:
        dry_run(options, about, runner=runner, output=output, as_json=json)
        return
    measure(options, about, runner=runner, output=output, resume=resume, as_json=json)


def _split(values: list[str] | None) -> tuple[str, ...]:
    parts = (part.strip() for value in values or () for part in value.split(","))
    names = tuple(part for part in parts if part)
    if values and not names:
        message = "an empty list of tasks or prompts; leave the option out for all"
        raise BadInputError(message)
    return names
