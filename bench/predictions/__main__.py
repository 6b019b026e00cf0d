"""Fit all results and print the errors of predictions: `python -m bench.predictions`.

The program writes the fit to `answers/fitted.json`, and the ledger and the tables of the page
Proofs to `bench/figures/`. All printed errors are from a cross-validation over people, in 20 folds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
import orjson
from rich.console import Console
from rich.table import Table

from answers.predict import Fitted
from bench.predictions import tables
from bench.predictions.fit import Design, design_of
from bench.predictions.folds import Predicted, fit_of, intervals, left_out, with_reach
from bench.predictions.ledger import entries, ledger_file
from bench.predictions.rows import Seen, digest_of, listed, seen
from pipeline.data.database import open_database

ROOT = Path(__file__).parents[2]
COMMAND = "make predictions"
SHIPPED = ROOT / "answers" / "fitted.json"
FIGURES = ROOT / "bench" / "figures" / "predictions.json"
LEDGER = ROOT / "bench" / "figures" / "ledger.csv"
ROUND_COSTS = Path(__file__).with_name("round_costs.sql")
_SHOWN, _WIDTH = 5, 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The rows that can be predicted; `listed` counts all rows, and `digest` covers all rows."""

    rows: Sequence[Seen]
    listed: int
    digest: str
    design: Design


def main() -> None:
    """Write fit, tables and ledger; print goals, errors by kind, calibration and worst misses."""
    results = open_database(ROOT / "results")
    inputs = inputs_of(results)
    fit, found = fit_and_folds(inputs)
    ledger = [*entries(inputs.rows)]
    document: dict[str, Any] = {
        "command": COMMAND,
        "date": max(row.day for row in inputs.rows),
        "digest": inputs.digest,
        "goals": [*goals(results, inputs, found)],
        "kinds": [*tables.kinds(found)],
        "folds": [*tables.folds(found)],
        "calibration": [*tables.calibration(found)],
        "worst": [*tables.worst(found)],
        "ledger": ledger[-_SHOWN:],
    }
    SHIPPED.write_bytes(shipped_file(fit))
    LEDGER.write_text(ledger_file(ledger), "utf-8")
    FIGURES.write_bytes(
        orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    )
    for lines in (document["goals"], document["kinds"], document["calibration"], document["worst"]):
        _print(lines)


def inputs_of(results: duckdb.DuckDBPyConnection) -> Inputs:
    """Turn the results into rows and a design matrix."""
    found = listed(results)
    rows = tuple(seen(found))
    return Inputs(rows=rows, listed=len(found), digest=digest_of(found), design=design_of(rows))


def fit_and_folds(inputs: Inputs) -> tuple[Fitted, Sequence[Predicted]]:
    """Fit all rows, with intervals from cross-validation; also return the held-out predictions."""
    found = with_reach([*left_out(inputs.rows, inputs.design)])
    fit = fit_of(inputs.design, np.ones(len(inputs.rows), dtype=bool))
    return msgspec.structs.replace(fit, digest=inputs.digest, kinds=intervals(found)), found


def shipped_file(fit: Fitted) -> bytes:
    """The fit as it ships: one line per effect, so that a diff is readable."""
    return msgspec.json.encode(fit).replace(b'],"', b'],\n"') + b"\n"


def goals(
    results: duckdb.DuckDBPyConnection, inputs: Inputs, found: Sequence[Predicted]
) -> Iterator[tables.Line]:
    """Yield the goals for the predictions, each with the value reached."""
    yield from (goal.line(found) for goal in tables.GOALS)
    yield {
        "name": "Share of the figures with a prediction",
        "must": "at least 0.95",
        "reached": round(len(inputs.rows) / inputs.listed, 3),
        "constant": None,
        "figures": inputs.listed,
        "people": len({row.person for row in inputs.rows}),
    }
    off = [row[0] for row in results.sql(ROUND_COSTS.read_text("utf-8")).fetchall()]
    for what, must, share in (("median", 0.01, 0.5), ("95th percentile", 0.04, 0.95)):
        yield {
            "name": f"Error of a round's cost on a V100, from five other kinds of text: {what}",
            "must": f"at most {must}",
            "reached": round(float(np.quantile(off, share)), 4),
            "constant": None,
            "figures": len(off),
            "people": 1,
        }
    probes = results.sql("select abs(unexplained), voter from prediction").fetchall()
    yield {
        "name": "Error of speedups from a campaign's probes and tokens per round: median",
        "must": "at most 0.1",
        "reached": round(float(np.median([error for error, _ in probes])), 4),
        "constant": None,
        "figures": len(probes),
        "people": len({voter for _, voter in probes}),
    }


def _print(lines: Sequence[tables.Line]) -> None:
    table = Table(*lines[0], box=None, pad_edge=False)
    for line in lines:
        table.add_row(*("" if value is None else str(value) for value in line.values()))
    Console(width=_WIDTH).print(table, "")


if __name__ == "__main__":
    main()
