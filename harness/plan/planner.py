"""Plan a target with or without a draft on a machine: what fits, what it costs, what it gains."""

from dataclasses import replace

from answers import alternatives, warnings
from answers.choices import Plan, PlanOption
from answers.commands import loading, method_of
from answers.model import LayerPlacement
from answers.placement import Projection, fit, largest_context, merge_placements, placed, project
from answers.rounds import speedup
from answers.speed import plain
from estimates.engine_commands import drafting
from harness.plan.inputs import PlanInputs
from harness.plan.server_fit import AllocatedSizes, allocated_sizes


def plan(inputs: PlanInputs) -> Plan:
    """The plan for these inputs; a llama-server's own sizes replace closed forms."""
    inputs = _with_best_way(inputs) if inputs.chosen else inputs
    sizes = _allocated(inputs)
    if isinstance(sizes, str):
        note = f"the engine could not simulate it ({sizes}); these are closed forms"
        return _answer(replace(inputs, notes=(*inputs.notes, note)), None)
    return _answer(inputs, sizes)


def _with_best_way(inputs: PlanInputs) -> PlanInputs:
    """The inputs with the way of drafting that promises most; without any where nothing helps."""
    alone = _alone(inputs)
    ways = alternatives.drafting(alone, alone, inputs.speed, inputs.ways)
    best = max(ways, key=lambda each: (each.promise, each.tps.estimate))
    if not best.promise:
        return replace(inputs, drafting=None)
    own = {"text": "n-grams", "own-head": "its own prediction head"}
    source = best.speculation.source if best.speculation else "model"
    return replace(
        inputs,
        drafting=own.get(source, inputs.drafting),
        case=best.case,
        speculation=best.speculation,
        draft=best.draft,
    )


def _answer(inputs: PlanInputs, sizes: tuple[AllocatedSizes, ...] | None) -> Plan:
    found = _placed(inputs)
    if sizes is not None:
        models = placed(inputs.case, found.placement)
        for (devices, host), each in zip(models, sizes, strict=True):
            each.replace_in(devices, host)
        found = merge_placements(inputs.case, found.placement, models, exact=True)
    alone = _alone(inputs)
    gain, tps = None, plain(inputs.case, found, inputs.speed)
    if inputs.speculation is not None:
        gain = speedup(inputs.case, found, alone.tps, inputs.speed, inputs.speculation)
        tps = alone.tps.times(gain)
    asked = replace(
        alone,
        changes="as recommended" if inputs.chosen else "as asked",
        case=inputs.case,
        found=found,
        speculation=inputs.speculation,
        tps=tps,
        draft=inputs.draft,
        gain=gain,
    )
    return Plan(
        target=inputs.name,
        drafting=inputs.drafting,
        chosen=inputs.chosen,
        asked=asked,
        alone=alone,
        context_max=largest_context(inputs.case, found.placement),
        context_max_alone=largest_context(alone.case, alone.found.placement),
        alternatives=alternatives.list_alternatives(asked, alone, inputs.speed, ways=inputs.ways),
        exact=sizes is not None,
        warnings=(*warnings.warnings_for(asked, alone, gain), *inputs.notes),
    )


def _alone(inputs: PlanInputs) -> PlanOption:
    """The target without speculation, with as many layers on the devices as then fit."""
    case = inputs.case.without_speculation()
    found = fit(case)
    return PlanOption(
        changes="no draft",
        case=case,
        found=found,
        speculation=None,
        tps=plain(case, found, inputs.speed),
        target=inputs.target,
        draft=None,
    )


def _placed(inputs: PlanInputs) -> Projection:
    """The projection with the asked placement, or with the most that fits."""
    case = inputs.case
    best = fit(case)
    if inputs.layers is None and inputs.cpu_experts is None:
        return best
    whole = case.target.placed_layers
    layers = best.placement.layers if inputs.layers is None else inputs.layers
    layers = whole if layers < 0 else min(layers, whole)
    experts = best.placement.cpu_experts if inputs.cpu_experts is None else inputs.cpu_experts
    placement = LayerPlacement(
        layers=layers if case.devices else 0, cpu_experts=experts, share=best.placement.share
    )
    return project(case, placement)


def _allocated(inputs: PlanInputs) -> tuple[AllocatedSizes, ...] | str | None:
    """What the server would allocate; `None` without a server, or without the models' headers."""
    sources = [inputs.target, *([inputs.draft] if inputs.draft else [])]
    paths = [source.path for source in sources if source.path is not None]
    if inputs.server is None or len(paths) < len(sources):
        return None
    case = inputs.case
    words = loading(case.setting, _placed(inputs).placement, fit="on")
    if case.uses_head:
        words += drafting(method_of(inputs.speculation)) or ()
    alone = LayerPlacement(layers=case.draft_layers)
    draft_words = loading(case.draft_setting, alone, fit="on")
    return allocated_sizes(inputs.server, list(zip(paths, (words, draft_words), strict=False)))
