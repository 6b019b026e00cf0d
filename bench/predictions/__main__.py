"""Compute the medians that ship, and test them: `python -m bench.predictions`.

The program writes the medians to `planner/fitted.json`, the medians of rounds to
`planner/accepted.json`, and the ledger and the tables of the page Proofs to `bench/figures/`.
Entries that are already in the ledger stay as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
import orjson
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from bench.predictions import accepted
from bench.predictions.folds import deviations, left_out, other, reaches
from bench.predictions.ledger import accuracy, ledger_file, months, read, updated
from bench.predictions.measures import Scored, errors, half_width, held, people, side
from bench.predictions.rows import Seen, digest_of, listed, seen
from bench.predictions.typical import typical_of
from pipeline.data.database import open_database
from planner.estimate import Typical

ROOT = Path(__file__).parents[2]
COMMAND = "make predictions"
SHIPPED = ROOT / "planner" / "fitted.json"
ACCEPTED = ROOT / "planner" / "accepted.json"
FIGURES = ROOT / "bench" / "figures" / "predictions.json"
LEDGER = ROOT / "bench" / "figures" / "ledger.csv"
# Arms on a single task with the usual settings, whose campaign also measured steps of its width.
PROBES = """
    select abs(unexplained), account_of(contributor) from evidence
    where counted and tier = 'measured' and role = 'speculation' and task not in ('all', 'own')
      and concurrency = 1 and conditions is null and unexplained is not null
      and trust_in(verdict, doubt) > 0
"""
ROUND_COSTS = Path(__file__).with_name("round_costs.sql")
_SHOWN, _WIDTH, _FEW = 5, 150, 5
Line = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The rows that can be predicted; `listed` counts all rows, and `digest` covers all rows."""

    rows: Sequence[Seen]
    listed: int
    digest: str


def main() -> None:
    """Write medians, tables and ledger; print errors by kind and by month."""
    results = open_database(ROOT / "results")
    inputs = inputs_of(results)
    found = left_out(inputs.rows)
    ledger = updated(read(LEDGER), inputs.rows)
    typical = replace(shipped(inputs), accuracy=accuracy(ledger))
    document: dict[str, Any] = {
        "command": COMMAND,
        "date": max(row.day for row in inputs.rows),
        "digest": inputs.digest,
        "goals": [*goals(results, inputs, found), *goals_with_acceptance(inputs)],
        "kinds": [*kinds(found)],
        "months": [*months(ledger)],
        "ledger": ledger[-_SHOWN:],
    }
    SHIPPED.write_bytes(shipped_file(typical))
    ACCEPTED.write_bytes(shipped_file(accepted.shipped(inputs.rows)))
    LEDGER.write_text(ledger_file(ledger), "utf-8")
    FIGURES.write_bytes(
        orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    )
    for lines in (document["goals"], document["kinds"], document["months"]):
        _print(lines)


def inputs_of(results: duckdb.DuckDBPyConnection) -> Inputs:
    """Turn the results into rows."""
    found = listed(results)
    return Inputs(rows=tuple(seen(found)), listed=len(found), digest=digest_of(found))


def shipped_file(typical: Typical | accepted.Fitted) -> bytes:
    """The medians as they ship: one line per entry, so that a diff is readable."""
    data = msgspec.json.encode(typical)
    for end in (b'],"', b'},"', b'{"'):
        data = data.replace(end, end[:-1] + b"\n" + end[-1:])
    return data + b"\n"


def shipped(inputs: Inputs) -> Typical:
    """The medians over all rows, with intervals calibrated on whole sources left out."""
    found = other(deviations(inputs.rows))
    return replace(typical_of(inputs.rows, inputs.digest), reach=reaches(found))


def goals(
    results: duckdb.DuckDBPyConnection, inputs: Inputs, found: Sequence[Scored]
) -> Iterator[Line]:
    """Yield the goals for the predictions, each with the value reached, by people."""
    tried = {"figures": len(found), "people": people(found)}
    stated = [one for one in found if one.stated]
    for what, must, value in (
        ("Median factor off", "at most 1.28", errors(found)[1]),
        ("Median factor off, where the depth is stated", "at most 1.23", errors(stated)[1]),
        ("Share of 90 % intervals that contain the truth", "0.86 to 0.94", held(found)[1]),
        ("Half-width of the interval, as a factor", "at most 2.2", half_width(found) or 0.0),
        ("Share on the right side of 1", "at least 0.78", side(found)[1]),
        ("Share of the figures with a prediction", "at least 0.95", len(found) / inputs.listed),
    ):
        yield {"name": what, "must": must, "reached": round(value, 3), **tried}
    off = [row[0] for row in results.sql(ROUND_COSTS.read_text("utf-8")).fetchall()]
    for what, must, share in (("median", 0.01, 0.5), ("95th percentile", 0.04, 0.95)):
        yield {
            "name": f"Error of a round's cost on a V100, from five other kinds of text: {what}",
            "must": f"at most {must}",
            "reached": round(float(np.quantile(off, share)), 4),
            "figures": len(off),
            "people": 1,
        }
    probes = results.sql(PROBES).fetchall()
    yield {
        "name": "Error of speedups from a campaign's probes and tokens per round: median",
        "must": "at most 0.1",
        "reached": round(float(np.median([error for error, _ in probes])), 4),
        "figures": len(probes),
        "people": len({voter for _, voter in probes}),
    }


def goals_with_acceptance(inputs: Inputs) -> Iterator[Line]:
    """Yield the goals for figures with a stated acceptance and depth, by people."""
    found = accepted.left_out(accepted.deviations(inputs.rows))
    tried = {"figures": len(found), "people": people(found)}
    for what, must, value in (
        ("Median factor off", "at most 1.20", errors(found)[1]),
        ("Share of 90 % intervals that contain the truth", "0.86 to 0.94", held(found)[1]),
        ("Half-width of the interval, as a factor", "at most 1.6", half_width(found) or 0.0),
    ):
        name = f"With a stated acceptance: {what[0].lower()}{what[1:]}"
        yield {"name": name, "must": must, "reached": round(value, 3), **tried}


def kinds(found: Sequence[Scored]) -> Iterator[Line]:
    """Yield a line for each kind of target and method that enough people tried."""
    for kind in sorted({one.kind for one in found}):
        own = [one for one in found if one.kind == kind]
        if people(own) >= _FEW:
            target, _, method = kind.partition(", ")
            yield {
                "target": target,
                "method": method,
                "figures": len(own),
                "people": people(own),
                "off": round(errors(own)[1], 3),
                "held": round(held(own)[1], 3),
                "half_width": round(half_width(own) or 0.0, 3),
                "side": round(side(own)[1], 3),
            }


def _print(lines: Sequence[Line]) -> None:
    table = Table(*lines[0], box=None, pad_edge=False)
    for line in lines:
        table.add_row(*("" if value is None else str(value) for value in line.values()))
    Console(width=_WIDTH).print(table, "")


if __name__ == "__main__":
    main()
