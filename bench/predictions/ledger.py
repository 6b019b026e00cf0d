"""Keep the ledger: every figure, predicted only from figures of the months before.

An entry is frozen when it is first written: a later predictor predicts only figures that are not in
the ledger yet. Beside each prediction stand a constant and the median by kind of method, both from
the same earlier figures.
"""

import csv
import io
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bench.predictions.folds import predictions, reaches, with_reach
from bench.predictions.measures import Scored, errors, held, people
from bench.predictions.rows import Seen, digest_of
from bench.predictions.typical import medians
from planner.estimate import ALL, Accuracy

DESIGN = "0054"  # the design note of the predictor of new entries
ENOUGH = 8  # people; the errors of a kind with fewer are too few to state
Entry = Mapping[str, str]
Key = tuple[str, ...]
Predict = Callable[[Sequence[Seen], Iterable[Seen]], Iterator[tuple[Seen, Scored]]]
_KEY = ("day", "card", "target", "method", "depth", "task", "truth", "source")


def read(path: Path) -> list[Entry]:
    """The ledger's entries; none if there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def updated(
    old: Sequence[Entry], rows: Sequence[Seen], predict: Predict = predictions
) -> list[Entry]:
    """The old entries, unchanged, and one for each figure that is not among them, oldest first.

    Figures from the first month and figures without a date are left out: they have no prediction.
    """
    known = Counter(map(_key, old))
    new = []
    for row, entry in _entries(rows, predict):
        if known[_key(entry)]:
            known[_key(entry)] -= 1
        else:
            new.append((row, entry))
    return [*old, *(entry for _, entry in new)]


def _entries(rows: Sequence[Seen], predict: Predict) -> Iterator[tuple[Seen, Entry]]:
    """Predict each figure from the months before; intervals are calibrated on earlier errors."""
    past: list[Scored] = []
    dated = sorted((row for row in rows if row.day), key=lambda row: row.day)
    for month in sorted({row.day[:7] for row in dated}):
        known = [row for row in dated if row.day[:7] < month]
        if not known:
            continue
        truths = [(row, row.truth) for row in known]
        constant = medians(truths, lambda _: ALL)[ALL][0]
        usual = medians(truths, lambda row: row.case.kind)
        asked = [row for row in dated if row.day[:7] == month]
        found = [*predict(known, asked)]
        reach = reaches(past) if people([*past]) >= ENOUGH else None
        shared = {"constant": _ratio(constant), "known": str(len(known))}
        shared |= {"digest": digest_of(tuple(known)), "design": DESIGN}
        for row, one in found:
            wide = next(with_reach([one], reach)) if reach else None
            middle = usual.get(row.case.kind, (constant, 0))[0]
            yield row, {**_entry(row, one, wide), "usual": _ratio(middle), **shared}
        past += [one for _, one in found]


def _entry(row: Seen, one: Scored, wide: Scored | None) -> Entry:
    reach = wide.reach if wide and wide.reach else math.nan
    ends = (one.middle - reach, min(one.middle + reach, math.log(row.depth + 1)))
    low, high = ("" if math.isnan(reach) else _ratio(end) for end in ends)
    return {
        "day": row.day,
        "card": row.card,
        "target": row.target,
        "method": row.case.method,
        "kind": row.case.kind,
        "depth": str(row.depth),
        "task": row.task,
        "person": row.person,
        "predicted": _ratio(one.middle),
        "low": low,
        "high": high,
        "truth": _ratio(row.truth),
        "source": row.source,
    }


def ledger_file(found: Sequence[Entry]) -> str:
    """The ledger as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, found[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue()


def scored(entries: Iterable[Entry], column: str = "predicted") -> list[Scored]:
    """The entries as predictions with their truth; `column` may also be a simpler prediction."""
    return [
        Scored(
            person=entry["person"],
            truth=math.log(float(entry["truth"])),
            middle=math.log(float(entry[column])),
            reach=_reach(entry),
            kind=entry["kind"],
        )
        for entry in entries
    ]


def _reach(entry: Entry) -> float | None:
    """The half-width below the prediction, which no limit cuts."""
    return math.log(float(entry["predicted"]) / float(entry["low"])) if entry["low"] else None


def accuracy(entries: Sequence[Entry]) -> dict[str, Accuracy]:
    """The errors of each kind that enough people tried, and of all."""
    kinds = defaultdict(list)
    for one in scored(entries):
        kinds[ALL].append(one)
        kinds[one.kind].append(one)
    return {
        kind: Accuracy(
            off=round(errors(own)[1], 3),
            held=round(held(own)[1], 3),
            figures=len(own),
            people=people(own),
        )
        for kind, own in sorted(kinds.items())
        if people(own) >= ENOUGH
    }


def months(entries: Sequence[Entry]) -> Iterator[Mapping[str, object]]:
    """The running error of all entries up to each month, beside those of simpler predictions."""
    for month in sorted({entry["day"][:7] for entry in entries}):
        until = [entry for entry in entries if entry["day"][:7] <= month]
        if people(scored(until)) < ENOUGH:
            continue
        each = {
            name: round(errors(scored(until, column))[1], 3)
            for name, column in (("off", "predicted"), ("constant", "constant"), ("usual", "usual"))
        }
        yield {"month": month, "figures": len(until), "people": people(scored(until)), **each}


def _ratio(middle: float) -> str:
    return f"{math.exp(middle):.3f}"


def _key(entry: Entry) -> Key:
    return tuple(entry[name] for name in _KEY)
