"""Compare the planned memory with public logs, by kind of buffer (`memory_points.json`)."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.plan.points import Point, facts_behind
from planner.memory import RUNTIME_MIB
from planner.model import Buffers, LayerPlacement, Memory
from planner.placement import LoadPlan, Projection, fit, project
from planner.planner_errors import LoggedMemoryError

KINDS = Buffers.__struct_fields__


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPlan:
    """A measured load and its plan, as pairs (measured, planned): MiB by kind, total MiB, layers.

    `missed` is the memory used beyond the plan, as a multiple of the margin that "fits" allows.
    """

    point: Point
    planned: Mapping[str, float]
    kinds: Mapping[str, tuple[float, float]]
    caches: Mapping[str, tuple[float, float]]
    total: tuple[float, float] | None
    layers: tuple[int, int] | None
    missed: float | None


def compared(point: Point) -> ComparedPlan:
    """Compare a point with its plan."""
    case, found = projected(point)
    facts = case.target
    fact = dict(point.device_mib)
    if facts.weights_error is None:
        fact.pop("model", None)
    planned = {kind: sum(getattr(x, kind) for x in found.devices) for kind in KINDS}
    planned["context"] = planned["kv"] + planned["recurrent"]
    kinds = {kind: (mib, planned[kind]) for kind, mib in fact.items()}
    total = None
    if point.total_mib is not None:
        total = (point.total_mib, found.devices[0].total() + RUNTIME_MIB)
    elif {"model", "compute"} <= fact.keys():
        total = (sum(fact.values()), sum(planned[kind] for kind in fact))
    margin = max(case.margin_mib, found.needs[0] - found.devices[0].total())
    caches = {}
    for kind in ("kv", "recurrent"):  # device and host together
        everywhere = fact.get(kind, 0.0) + point.host_mib.get(kind, 0.0)
        if everywhere:
            caches[kind] = (everywhere, planned[kind] + getattr(found.host, kind))
    chosen = point.chosen_layers
    return ComparedPlan(
        point=point,
        planned=planned,
        kinds=kinds,
        caches=caches,
        total=total,
        layers=None if chosen is None else (chosen, found.placement.layers),
        missed=_missed(point, kinds, planned, margin),
    )


def _missed(
    point: Point,
    kinds: Mapping[str, tuple[float, float]],
    planned: Mapping[str, float],
    margin: float,
) -> float | None:
    """The memory used beyond the plan, as a multiple of the margin that "fits" allows.

    `None` if neither the total nor a compute buffer is known.
    """
    if point.total_mib is not None:
        return (point.total_mib - sum(planned[kind] for kind in KINDS)) / margin
    if "compute" not in {*kinds, *point.older_mib}:
        return None
    held = sum(fact for fact, _ in kinds.values()) + sum(point.older_mib.values())
    logged = {*kinds, *point.older_mib}
    return (held + RUNTIME_MIB - sum(planned[kind] for kind in logged)) / margin


def wrongly_fitting(judged: Sequence[tuple[str, float]]) -> int:
    """Count the points at which "fits" is wrong, by leave-one-origin-out cross-validation.

    The limit for an origin is the worst excess at the other origins, or the planner's margin if
    that is larger.
    """
    wrong = 0
    for left_out in {origin for origin, _ in judged}:
        widest = max([1.0, *(missed for origin, missed in judged if origin != left_out)])
        wrong += sum(missed > widest for origin, missed in judged if origin == left_out)
    return wrong


def memory_error(points: Sequence[ComparedPlan]) -> LoggedMemoryError:
    """The planner's errors, and how often "fits" is wrong.

    The errors of caches and totals are over held-out points, or over all points if none is held
    out. The errors of layers and of "fits" are over all points.
    """
    judged = [(each.point.origin, each.missed) for each in points if each.missed is not None]
    layers = [abs(each.layers[1] - each.layers[0]) for each in points if each.layers]
    points = [each for each in points if each.point.held_out] or points
    caches = [abs(plan / fact - 1) for each in points for fact, plan in each.caches.values()]
    totals = [abs(each.total[1] - each.total[0]) for each in points if each.total]
    return LoggedMemoryError(
        points=len(points),
        cache_worst=max(caches, default=0.0),
        totals=len(totals),
        total_median_mib=statistics.median(totals) if totals else 0.0,
        total_worst_mib=max(totals, default=0.0),
        layers_worst=max(layers, default=0),
        fits_points=len(judged),
        fits_wrong=wrongly_fitting(judged),
        fits_worst=max((missed for _, missed in judged), default=0.0),
    )


def projected(point: Point) -> tuple[LoadPlan, Projection]:
    """A point's load plan and its projection, with the layers that were set or else planned.

    Raises `UnknownShapeError`.
    """
    case = LoadPlan(
        target=facts_behind(point),
        setting=point.setting,
        devices=(Memory(name=point.device, free_mib=point.free_mib),),
        host=Memory(name="host", free_mib=1e9),
        uses_head=point.drafts_with_head,
    )
    layers = point.gpu_layers
    found = (
        fit(case, certain=True) if layers is None else project(case, LayerPlacement(layers=layers))
    )
    return case, found
