"""Write the `run` that measures what a plan recommends."""

from collections.abc import Iterator

from answers.choices import Plan, PlannedModel, PlanOption
from answers.presets import preset_named
from harness import PROGRAM
from harness.machine.command_line import pasted
from harness.plan.options import USUAL_CONTEXT
from schemas.vocabulary import DEFAULT_RUNNER, METHODS
from schemas.vocabulary.axes import AXES

_NO_DRAFT = "none"


def run_line(plan: Plan) -> str | None:
    """The `run` that measures the recommended setting, by a runner that can.

    `None` for a name without a file: no run could fetch it.

    A run always measures the target alone, too. So where no draft is recommended, the draft that
    was asked for is measured against it. The plan's defaults are those of `run`.
    """
    best, asked = plan.best, plan.asked
    against = best.speculation is None and asked.speculation is not None and asked.fits
    measured = asked if against else best
    sources = [(plan.target, measured.target), (plan.drafting, measured.draft)]
    for name, each in sources:
        preset = preset_named(name or "")
        if each is not None and not each.is_here and not (preset and preset.made):
            return None
    return pasted([*_words(plan, measured)])


def _words(plan: Plan, measured: PlanOption) -> Iterator[str]:
    drafting, drafts = measured.draft, measured.speculation
    yield from (*PROGRAM.split(), _name(plan.target, measured.target))
    if drafting is not None and not plan.chosen:
        yield _name(plan.drafting, drafting)
    yield "--quick"
    if not plan.chosen:
        yield from ("--method", f"{drafts.method}:n_max={drafts.depth}" if drafts else _NO_DRAFT)
    options = [*_loaded(measured)]
    # The first runner that has the method and every option of the engine.
    method = METHODS[drafts.method if drafts else _NO_DRAFT]
    asked = [axis for axis in AXES.values() if f"--{axis.option}" in options]
    runner = next(each for each in method.runners if all(each in axis.runners for axis in asked))
    yield from () if runner == DEFAULT_RUNNER else ("--runner", runner)
    yield from options
    most = plan.alone.found.placement.layers
    if most > measured.found.placement.layers:
        yield from ("--baseline-gpu-layers", str(most))


def _name(name: str | None, source: PlannedModel) -> str:
    """A model as `run` names it: a preset, a file, or a repository on the hub."""
    preset = preset_named(name or "")
    return preset.name if preset else source.server_name.removeprefix("-hf ")


def _loaded(choice: PlanOption) -> Iterator[str]:
    """What differs from how a run loads models by itself."""
    case, placement = choice.case, choice.found.placement
    if case.setting.context != USUAL_CONTEXT:
        yield from ("--context", str(case.setting.context))
    if case.devices and placement.layers < case.target.placed_layers:
        yield from ("--gpu-layers", str(placement.layers))
    if case.devices and case.draft is not None and case.draft.on_host:
        yield from ("--draft-gpu-layers", "0")
    if case.devices and placement.layers and placement.cpu_experts:
        yield from ("--n-cpu-moe", str(placement.cpu_experts))
    if case.setting.kv_k != "f16":
        yield from ("--cache-type-k", case.setting.kv_k, "--cache-type-v", case.setting.kv_v)
    if not case.setting.flash_attention:
        yield from ("--flash-attention", "off")
