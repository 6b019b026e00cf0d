"""Print the planner's errors against what was measured: `python -m bench.plan [FILE]`.

`memory_points.json` in this folder, or a file in the same format, lists public logs, each with what
was known before loading and the buffers that the engine logged. Predicted and logged sizes are
printed side by side, then the errors, also of plain speeds in `results/`. `--write` stores the
errors in `planner/planner_errors.json`, which pages and the terminal read.
"""

import argparse
from pathlib import Path

import orjson
from msgspec.structs import asdict
from rich.console import Console
from rich.table import Table

from bench.plan.comparison import ComparedPlan, compared, memory_error
from bench.plan.points import POINTS, UnknownShapeError, listed_points
from bench.plan.speeds import speed_error
from pipeline.data.database import open_database

WIDTH = 150
ROOT = Path(__file__).parents[2]
ERRORS = ROOT / "planner" / "planner_errors.json"


def main() -> None:
    """Print the predicted and the logged memory for every point, and the errors."""
    parser = argparse.ArgumentParser(prog="python -m bench.plan", description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("file", nargs="?", type=Path, default=POINTS)
    chosen = parser.parse_args()
    if chosen.write:
        ERRORS.write_bytes(errors_file())
        return
    table = Table("point", "buffer", "fact", "plan", "error")
    found = []
    for point in listed_points(chosen.file):
        try:
            found.append(compared(point))
        except UnknownShapeError as error:
            table.add_row(point.id, "", "", "", f"not planned: {error}")
        else:
            _list(found[-1], table)
    out = Console(width=WIDTH)
    out.print(table)
    out.print(asdict(memory_error(found)))
    out.print(asdict(speed_error(open_database(ROOT / "results"))))


def errors_file() -> bytes:
    """The errors over public points and results, as the JSON file that the planner reads."""
    found = {
        "memory": asdict(memory_error([compared(point) for point in listed_points()])),
        "speed": asdict(speed_error(open_database(ROOT / "results"))),
    }
    return orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _list(found: ComparedPlan, table: Table) -> None:
    if found.layers:
        table.add_row(found.point.id, "LAYERS", *map(str, found.layers), "")
    rows = {**found.kinds, **({"TOTAL": found.total} if found.total else {})}
    for kind, (fact, plan) in rows.items():
        table.add_row(found.point.id, kind, f"{fact:.1f}", f"{plan:.1f}", f"{plan - fact:+.1f}")


if __name__ == "__main__":
    main()
