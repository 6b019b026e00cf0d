"""Compute the ledger: every figure in order of date, predicted only from earlier figures.

The fit is repeated for each month of the data, using only earlier months. The width of an interval
is calibrated on the ledger's earlier errors.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from bench.predictions.fit import design_of
from bench.predictions.folds import ENOUGH, Predicted, people, predictions, widths
from bench.predictions.rows import Seen, digest_of

Entry = Mapping[str, object]


def entries(rows: Sequence[Seen]) -> Iterator[Entry]:
    """Yield each figure with its prediction from the months before, oldest first.

    Figures from the first month and figures without a date are left out: they have no prediction.
    """
    past: list[Predicted] = []
    dated = sorted(rows, key=lambda row: row.day)
    for month in sorted({row.day[:7] for row in dated if row.day}):
        until = [row for row in dated if row.day and row.day[:7] <= month]
        new = np.array([row.day[:7] == month for row in until])
        if new.all():
            continue
        known = tuple(row for row in until if row.day[:7] < month)
        digest = digest_of(known)
        width = widths(past) if people(past) >= ENOUGH else math.nan
        found = [*predictions(until, design_of(until), ~new, new)]
        for one in found:
            yield _entry(replace(one, reach=one.deviation * width), digest, len(known))
        past += found


def _entry(one: Predicted, digest: str, known: int) -> Entry:
    case, wide = one.row.case, not math.isnan(one.reach)
    return {
        "day": one.row.day,
        "card": one.row.card,
        "target": one.row.target,
        "method": case.method,
        "depth": case.depth,
        "task": case.task,
        "predicted": round(math.exp(one.middle), 3),
        "low": round(math.exp(one.middle - one.reach), 3) if wide else None,
        "high": round(math.exp(min(one.middle + one.reach, case.highest)), 3) if wide else None,
        "truth": round(math.exp(one.row.log_speedup), 3),
        "source": one.row.source,
        "known": known,
        "digest": digest,
    }


def ledger_file(found: Sequence[Entry]) -> str:
    """The ledger as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, found[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()
