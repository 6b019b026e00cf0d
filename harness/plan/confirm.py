"""Writes the run that measures what a plan recommends."""

import shlex
from collections.abc import Iterator

from estimates.plan.choices import Choice, Plan
from harness import PROGRAM
from harness.models.presets import presets
from schemas.vocabulary import DEFAULT_RUNNER, METHODS
from schemas.vocabulary.axes import AXES

_NO_DRAFT = "none"


def run_line(plan: Plan) -> str:
    """The `run` that measures the recommended setting, by a runner that can.

    A run always measures the target alone, too. So where no draft is recommended, the draft that
    was asked for is measured against it.
    """
    best, asked = plan.best, plan.asked
    against = best.speculation is None and asked.speculation is not None and asked.fits
    measured = asked if against else best
    options = [*_models(plan, measured), *_method(measured), *_loaded(measured)]
    if against and best.found.placement.layers > asked.found.placement.layers:
        options += ["--baseline-gpu-layers", str(best.found.placement.layers)]
    runner = _runner(measured, options)
    options += [] if runner == DEFAULT_RUNNER else ["--runner", runner]
    return f"{PROGRAM} run --quick {shlex.join(options)}"


def _models(plan: Plan, choice: Choice) -> Iterator[str]:
    """Presets by their names, other models as the server's command names them."""
    words = shlex.split(choice.command)
    yield from ("--target", _preset(plan.target) or words[2])
    for flag in ("-md", "-hfd"):
        if flag in words:
            yield from ("--draft", _preset(plan.drafting) or words[words.index(flag) + 1])


def _preset(name: str | None) -> str | None:
    return name if name is not None and name.lower() in presets() else None


def _method(choice: Choice) -> Iterator[str]:
    speculation = choice.speculation
    sized = f"{speculation.method}:n_max={speculation.depth}" if speculation else _NO_DRAFT
    yield from ("--method", sized)


def _loaded(choice: Choice) -> Iterator[str]:
    """What differs from how a run loads models by itself."""
    case, placement = choice.case, choice.found.placement
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


def _runner(choice: Choice, options: list[str]) -> str:
    """The first runner that has the method and every option of the engine."""
    method = METHODS[choice.speculation.method if choice.speculation else _NO_DRAFT]
    asked = [axis for axis in AXES.values() if f"--{axis.option}" in options]
    able = (name for name in method.runners if all(name in axis.runners for axis in asked))
    return next(able)
