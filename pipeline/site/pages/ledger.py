"""Read the predictions made before results arrived, from the ledger of `make predictions`."""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from answers.evidence import ALL_TASKS

LEDGER = Path(__file__).parents[3] / "bench" / "figures" / "ledger.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A figure over all tasks, with its prediction; early predictions have no interval."""

    method: str
    depth: int
    predicted: float
    low: float | None
    high: float | None
    found: float

    @property
    def hit(self) -> bool | None:
        """Whether the figure is in the predicted interval."""
        if self.low is None or self.high is None:
            return None
        return self.low <= self.found <= self.high


@cache
def registered() -> Mapping[str, Sequence[Registered]]:
    """The ledger's entries for figures over all tasks, by submission or published source."""
    found = defaultdict(list)
    with LEDGER.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["task"] == ALL_TASKS:
                found[row["source"]].append(
                    Registered(
                        method=row["method"],
                        depth=int(row["depth"]),
                        predicted=float(row["predicted"]),
                        low=float(row["low"]) if row["low"] else None,
                        high=float(row["high"]) if row["high"] else None,
                        found=float(row["truth"]),
                    )
                )
    return found
