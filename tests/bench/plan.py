"""How far is the planner from measured memory? `python -m tests.bench.plan FILE` prints it.

FILE has the shape of a list of points: each with the facts that a person knows before loading, and
the buffers that an engine logged. Prediction and fact stand side by side, then the medians.
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from rich.console import Console
from rich.table import Table

from estimates.plan.model import Buffers, Memory, Placement
from estimates.plan.placement import DEFAULT_MARGIN_MIB, Case, fit, project
from harness.errors import HarnessError
from harness.plan.points import Point, point_of

if TYPE_CHECKING:
    from estimates.plan.placement import Projection

_KEYS = {"rs": "recurrent", "mmproj_model": "projector", "mmproj_compute": "projector"}
_NOT_PLANNED = {"runtime_rs_checkpoint", "cuda_host_model"}


def main(path: str) -> None:
    """Print prediction against fact for every point, and the medians."""
    value = orjson.loads(Path(path).read_bytes())
    table = Table("point", "buffer", "fact", "plan", "error")
    errors: dict[str, list[float]] = {"kv": [], "recurrent": [], "compute": [], "model": []}
    totals: list[tuple[str, float]] = []
    layers: list[tuple[str, int, int]] = []
    for entry in [*value["points"], *value.get("totals_only", [])]:
        try:
            _one(entry, table, errors, totals, layers)
        except HarnessError as error:
            table.add_row(entry["id"], "", "", "", f"not planned: {error}")
    Console(width=150).print(table)
    _summary(errors, totals, layers)


def _one(
    entry: dict[str, Any],
    table: Table,
    errors: dict[str, list[float]],
    totals: list[tuple[str, float]],
    layers: list[tuple[str, int, int]],
) -> None:
    point = point_of(entry)
    found = _projection(point)
    fact = _fact(entry)
    _placed(entry, found, layers, table)
    if "vram_mb_total" in entry:
        planned = found.devices[0].total() + _RUNTIME_MIB
        table.add_row(
            entry["id"],
            "TOTAL+driver",
            f"{entry['vram_mb_total']}",
            f"{planned:.0f}",
            f"{planned - entry['vram_mb_total']:+.0f}",
        )
        totals.append((entry["id"], planned - entry["vram_mb_total"]))
        return
    if not point.facts.weights_known:
        fact.pop("model", None)
    planned = {name: sum(getattr(each, name) for each in found.devices) for name in _kinds()}
    planned["context"] = planned["kv"] + planned["recurrent"]
    for kind, mib in fact.items():
        error = planned[kind] - mib
        table.add_row(entry["id"], kind, f"{mib:.1f}", f"{planned[kind]:.1f}", f"{error:+.1f}")
        if kind in errors and mib:
            errors[kind].append(_relative(entry, kind, mib, planned[kind], found))
    if len(fact) > 1 and "model" in fact:
        error = sum(planned[kind] - mib for kind, mib in fact.items())
        totals.append((entry["id"], error))
        table.add_row(entry["id"], "TOTAL", f"{sum(fact.values()):.1f}", "", f"{error:+.1f}")


def _relative(
    entry: dict[str, Any], kind: str, fact: float, planned: float, found: Projection
) -> float:
    """The error of a buffer; of caches and states over all places, wherever layers were put."""
    host = 0.0
    if kind in ("kv", "recurrent"):
        host = (entry.get("host_mib") or {}).get({"recurrent": "rs"}.get(kind, kind), 0.0)
        planned += getattr(found.host, kind)
    return (planned - fact - host) / (fact + host)


_RUNTIME_MIB = 140


def _kinds() -> tuple[str, ...]:
    return tuple(Buffers().by_kind())


def _projection(point: Point) -> Projection:
    case = Case(
        target=point.facts,
        setting=point.setting,
        devices=point.devices,
        host=Memory(name="host", free_mib=1e9),
        uses_head=point.uses_head,
        margin_mib=DEFAULT_MARGIN_MIB,
    )
    if point.layers is None:
        return fit(case)
    return project(case, Placement(layers=point.layers))


def _fact(entry: dict[str, Any]) -> dict[str, float]:
    listed = entry.get("device_mib") or {}
    if not listed and entry.get("ngl") == 0:
        return {}
    places = (
        list(listed.values()) if any(isinstance(x, dict) for x in listed.values()) else [listed]
    )
    sums: dict[str, float] = {}
    for place in places:
        for key, mib in place.items():
            if key in _NOT_PLANNED or key.startswith("mmproj"):
                continue
            name = "kv" if key == "kv_swa" else _KEYS.get(key, key)
            sums[name] = sums.get(name, 0.0) + mib
    return sums


def _placed(
    entry: dict[str, Any], found: Projection, layers: list[tuple[str, int, int]], table: Table
) -> None:
    match = re.match(r"(\d+)/(\d+)", str(entry.get("layers") or ""))
    if match is None or not str(entry.get("ngl")).startswith("fit"):
        return
    if entry.get("free_mib_at_fit") is None:
        return  # nobody knows what was free
    layers.append((entry["id"], int(match[1]), found.placement.layers))
    table.add_row(entry["id"], "LAYERS", match[1], str(found.placement.layers), "")


def _summary(
    errors: dict[str, list[float]],
    totals: list[tuple[str, float]],
    layers: list[tuple[str, int, int]],
) -> None:
    out = Console(width=150)
    for kind, relative in errors.items():
        worst = max((abs(each) for each in relative), default=0)
        middle = statistics.median(abs(each) for each in relative) if relative else 0
        out.print(f"{kind}: {len(relative)} points, median {middle:.2%}, worst {worst:.2%}")
    sizes = [abs(error) for _, error in totals]
    if sizes:
        worst_name = max(totals, key=lambda each: abs(each[1]))
        out.print(
            f"total per device: {len(sizes)} points, median {statistics.median(sizes):.0f} MiB, "
            f"worst {worst_name[1]:+.0f} MiB ({worst_name[0]})"
        )
    off = [abs(fact - planned) for _, fact, planned in layers]
    if off:
        out.print(f"layers: {len(off)} placements, worst {max(off)} off")


if __name__ == "__main__":
    main(sys.argv[1])
