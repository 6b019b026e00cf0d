"""Compare the planner's memory with public logs, by kind of buffer (`memory_points.json`)."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from bench.plan.points import Point, point_of
from estimates.plan.learned import LoggedMemoryError
from estimates.plan.memory import RUNTIME_MIB
from estimates.plan.model import Buffers, LayerPlacement, Memory
from estimates.plan.placement import Case, Projection, fit, project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

POINTS = Path(__file__).with_name("memory_points.json")
_KEYS = {"rs": "recurrent", "kv_swa": "kv"}
_NOT_PLANNED = {"runtime_rs_checkpoint", "cuda_host_model"}
_PLACED = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A point with its prediction: (fact, plan) in MiB by kind, over all and in layers."""

    id: str
    planned: Mapping[str, float]
    kinds: Mapping[str, tuple[float, float]]
    caches: Mapping[str, tuple[float, float]]
    total: tuple[float, float] | None
    layers: tuple[int, int] | None


def compared(entry: Mapping[str, object]) -> Compared:
    """A point of a list against its plan. Raises `PointError` for one that cannot be planned."""
    point = point_of(entry)
    found = _projection(point)
    fact = dict(_facts(entry))
    if not point.facts.weights_known:
        fact.pop("model", None)
    planned = {kind: sum(getattr(x, kind) for x in found.devices) for kind in Buffers().by_kind()}
    planned["context"] = planned["kv"] + planned["recurrent"]
    kinds = {kind: (mib, planned[kind]) for kind, mib in fact.items()}
    total = None
    used = entry.get("vram_mb_total")
    if isinstance(used, int | float):
        total = (float(used), found.devices[0].total() + RUNTIME_MIB)
    elif len(fact) > 1 and "model" in fact:
        total = (sum(fact.values()), sum(planned[kind] for kind in fact))
    return Compared(
        id=str(entry.get("id") or point.name),
        planned=planned,
        kinds={} if isinstance(used, int | float) else kinds,
        caches=dict(_everywhere(entry, kinds, found)),
        total=total,
        layers=_layers(entry, found),
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


def _projection(point: Point) -> Projection:
    case = Case(
        target=point.facts,
        setting=point.setting,
        devices=point.devices,
        host=Memory(name="host", free_mib=1e9),
        uses_head=point.uses_head,
    )
    return fit(case) if point.layers is None else project(case, LayerPlacement(layers=point.layers))


def _facts(entry: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """MiB by kind over all devices."""
    listed = entry.get("device_mib")
    if not isinstance(listed, dict):
        return
    places = (
        list(listed.values()) if any(isinstance(x, dict) for x in listed.values()) else [listed]
    )
    sums: dict[str, float] = {}
    for place in places:
        for key, mib in place.items():
            if key not in _NOT_PLANNED and not key.startswith("mmproj"):
                name = _KEYS.get(str(key), str(key))
                sums[name] = sums.get(name, 0.0) + mib
    yield from sums.items()


def _everywhere(
    entry: Mapping[str, object], kinds: Mapping[str, tuple[float, float]], found: Projection
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Caches and states over all places, wherever the layers were put."""
    listed = entry.get("host_mib")
    host = listed if isinstance(listed, dict) else {}
    for kind in ("kv", "recurrent"):
        own = sum(mib for key, mib in host.items() if _KEYS.get(key, key) == kind)
        fact, planned = kinds.get(kind, (0.0, sum(getattr(x, kind) for x in found.devices)))
        if fact + own:
            yield kind, (fact + own, planned + getattr(found.host, kind))


def _layers(entry: Mapping[str, object], found: Projection) -> tuple[int, int] | None:
    """Layers as an engine chose them, where it is known what was free."""
    match = _PLACED.match(str(entry.get("layers") or ""))
    chosen = str(entry.get("ngl")).startswith("fit") and entry.get("free_mib_at_fit") is not None
    return (int(match[1]), found.placement.layers) if match and chosen else None


def listed_points() -> list[Compared]:
    """The public points of this folder, compared with their plans."""
    listed = orjson.loads(POINTS.read_bytes())
    return [compared(entry) for entry in (*listed["points"], *listed["totals_only"])]
