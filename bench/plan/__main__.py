"""How far is the planner from measured memory? `python -m bench.plan` prints it.

`memory_points.json` of this folder lists public logs: each with what a person knows before loading
and the buffers that the engine logged. Prediction and fact are printed next to each other, then the
medians. `--write` stores the errors in `estimates/plan/planner_errors.json`, from where pages and
the terminal take them.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from rich.console import Console
from rich.table import Table

from bench.plan.comparison import Compared, compared, memory_error
from bench.plan.points import listed_points

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 150
ERRORS = Path(__file__).parents[2] / "estimates" / "plan" / "planner_errors.json"
RELATIVE = ("kv", "recurrent", "compute", "model")


def main() -> None:
    """Print prediction against fact for every point, and the medians."""
    parser = argparse.ArgumentParser(prog="python -m bench.plan", description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        ERRORS.write_bytes(errors_file())
        return
    table = Table("point", "buffer", "fact", "plan", "error")
    found = [compared(point) for point in listed_points()]
    for each in found:
        _list(each, table)
    out = Console(width=WIDTH)
    out.print(table)
    _summarise(found, out)


def errors_file() -> bytes:
    """The errors over the public points, as the planner states them."""
    found = {"memory": asdict(memory_error([compared(point) for point in listed_points()]))}
    return orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _list(found: Compared, table: Table) -> None:
    if found.layers:
        table.add_row(found.id, "LAYERS", *map(str, found.layers), "")
    rows = {**found.kinds, **({"TOTAL": found.total} if found.total else {})}
    for kind, (fact, plan) in rows.items():
        table.add_row(found.id, kind, f"{fact:.1f}", f"{plan:.1f}", f"{plan - fact:+.1f}")


def _summarise(found: Sequence[Compared], out: Console) -> None:
    for kind in RELATIVE:
        pairs = [(each.caches if kind in each.caches else each.kinds).get(kind) for each in found]
        errors = [abs(pair[1] / pair[0] - 1) for pair in pairs if pair and pair[0]]
        middle, worst = (statistics.median(errors), max(errors)) if errors else (0.0, 0.0)
        out.print(f"{kind}: {len(errors)} points, median {middle:.2%}, worst {worst:.2%}")
    total = memory_error(found)
    worst_id = max(
        (each for each in found if each.total),
        key=lambda each: abs(each.total[1] - each.total[0]) if each.total else 0.0,
        default=None,
    )
    out.print(
        f"total per device: {total.totals} points, median {total.total_median_mib:.0f} MiB, "
        f"worst {total.total_worst_mib:.0f} MiB ({worst_id.id if worst_id else 'none'})"
    )
    count = sum(each.layers is not None for each in found)
    out.print(f"layers: {count} placements, worst {total.layers_worst} off")


if __name__ == "__main__":
    main()
