"""Compare the planner's memory with public logs, by kind of buffer (`memory_points.json`)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.plan.points import Point, facts_behind
from estimates.plan.learned import LoggedMemoryError
from estimates.plan.memory import RUNTIME_MIB
from estimates.plan.model import KINDS, LayerPlacement, Memory
from estimates.plan.placement import Case, Projection, fit, project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from estimates.plan.model import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A point with its prediction: (fact, plan) in MiB by kind, over all and in layers."""

    id: str
    planned: Mapping[str, float]
    kinds: Mapping[str, tuple[float, float]]
    caches: Mapping[str, tuple[float, float]]
    total: tuple[float, float] | None
    layers: tuple[int, int] | None


def compared(point: Point) -> Compared:
    """A point against its plan."""
    facts = facts_behind(point)
    found = _projection(point, facts)
    fact = dict(point.device_mib)
    if not facts.weights_known:
        fact.pop("model", None)
    planned = {kind: sum(getattr(x, kind) for x in found.devices) for kind in KINDS}
    planned["context"] = planned["kv"] + planned["recurrent"]
    kinds = {kind: (mib, planned[kind]) for kind, mib in fact.items()}
    total = None
    if point.total_mib is not None:
        total = (point.total_mib, found.devices[0].total() + RUNTIME_MIB)
    elif {"model", "compute"} <= fact.keys():
        total = (sum(fact.values()), sum(planned[kind] for kind in fact))
    caches = {}
    for kind in ("kv", "recurrent"):  # over all places, wherever the layers are
        everywhere = fact.get(kind, 0.0) + point.host_mib.get(kind, 0.0)
        if everywhere:
            caches[kind] = (everywhere, planned[kind] + getattr(found.host, kind))
    chosen = point.chosen_layers
    return Compared(
        id=point.id,
        planned=planned,
        kinds=kinds,
        caches=caches,
        total=total,
        layers=None if chosen is None else (chosen, found.placement.layers),
    )


def memory_error(points: Sequence[Compared]) -> LoggedMemoryError:
    """The errors over points that were compared."""
    caches = [abs(plan / fact - 1) for each in points for fact, plan in each.caches.values()]
    totals = [abs(each.total[1] - each.total[0]) for each in points if each.total]
    layers = [abs(each.layers[1] - each.layers[0]) for each in points if each.layers]
    return LoggedMemoryError(
        points=len(points),
        cache_worst=max(caches, default=0.0),
        totals=len(totals),
        total_median_mib=statistics.median(totals) if totals else 0.0,
        total_worst_mib=max(totals, default=0.0),
        layers_worst=max(layers, default=0),
    )


def _projection(point: Point, facts: Facts) -> Projection:
    case = Case(
        target=facts,
        setting=point.setting,
        devices=(Memory(name=point.device, free_mib=point.free_mib),),
        host=Memory(name="host", free_mib=1e9),
        uses_head=point.drafts_with_head,
    )
    layers = point.gpu_layers
    return fit(case) if layers is None else project(case, LayerPlacement(layers=layers))
