"""How far is the planner from measured memory? `python -m bench.plan` prints it.

`memory_points.json` of this folder lists public logs: each with what a person knows before loading
and the buffers that the engine logged. Prediction and fact are printed next to each other, then the
errors over all. `--write` stores those in `estimates/plan/planner_errors.json`, from where pages
and the terminal take them.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

from bench.plan.comparison import Compared, compared, memory_error
from bench.plan.points import listed_points

WIDTH = 150
ERRORS = Path(__file__).parents[2] / "estimates" / "plan" / "planner_errors.json"


def main() -> None:
    """Print prediction against fact for every point, and the errors over all."""
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
    out.print(asdict(memory_error(found)))


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


if __name__ == "__main__":
    main()
