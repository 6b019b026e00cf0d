"""Write the `run` command that measures the setting that an answer is about."""

from collections.abc import Iterator

from planner.answer import Answer
from planner.choices import PlanOption
from planner.model import Setting
from planner.ways import PlannedModel
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import DEFAULT_RUNNER, METHODS
from schemas.vocabulary.axes import AXES

_NO_DRAFT = "none"


def measure_words(found: Answer) -> list[str] | None:
    """The arguments, without the program's name, of the `run` command that measures the setting.

    `None` if only the model's name is known, because no run could fetch its file, and for engines
    other than llama.cpp, whose servers the user starts. A run always
    measures the target without a draft, too. If no draft is recommended, the run compares the
    target with the most promising way.
    """
    best = found.best
    if best.way is None and found.judged is not None and found.judged.fits:
        best = found.judged
    if found.question.engine != LLAMA_CPP:
        return None
    for each in filter(None, (best.target, best.draft)):
        if not each.is_here and not (each.preset and each.preset.made):
            return None
    return [*_words(found, best)]


def _words(found: Answer, measured: PlanOption) -> Iterator[str]:
    way = measured.way
    yield _name(measured.target)
    if measured.draft is not None:
        yield _name(measured.draft)
    yield "--quick"
    yield from ("--method", f"{way.method}{_depth(measured)}" if way else _NO_DRAFT)
    if found.question.task:
        yield from ("--tasks", found.question.task)
    options = [*_loaded(measured)]
    # The first runner that supports the method and every option of the engine.
    method = METHODS[way.method if way else _NO_DRAFT]
    asked = [axis for axis in AXES.values() if f"--{axis.option}" in options]
    runner = next(each for each in method.runners if all(each in axis.runners for axis in asked))
    yield from () if runner == DEFAULT_RUNNER else ("--runner", runner)
    yield from options
    most = found.alone.found.placement.layers
    if most > measured.found.placement.layers:
        yield from ("--baseline-gpu-layers", str(most))


def _depth(measured: PlanOption) -> str:
    """The depth as an option of the method; some methods have no settable depth."""
    sized = measured.way is not None and "n_max" in METHODS[measured.way.method].defaults
    return f":n_max={measured.depth}" if sized else ""


def _name(source: PlannedModel) -> str:
    """A model's name for `run`: a preset, a file, or a repository on the hub."""
    return source.preset.name if source.preset else source.server_name.removeprefix("-hf ")


def _loaded(choice: PlanOption) -> Iterator[str]:
    """The `run` options for loading that differ from their defaults."""
    case, placement = choice.case, choice.found.placement
    if case.setting.context != Setting().context:
        yield from ("--context", str(case.setting.context))
    if case.devices and placement.layers < case.target.placed_layers:
        yield from ("--gpu-layers", str(placement.layers))
    if case.devices and placement.layers and placement.cpu_experts:
        yield from ("--n-cpu-moe", str(placement.cpu_experts))
    if case.setting.kv_k != "f16":
        yield from ("--cache-type-k", case.setting.kv_k, "--cache-type-v", case.setting.kv_v)
