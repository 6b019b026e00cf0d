"""Show what moves the estimate of an answer, and how far off it was on later figures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from planner.estimate import typical


def errors_by_month(benches: Path) -> Sequence[Mapping[str, float | str]]:
    """The running error of `make predictions`; empty before the bench has written it.

    `off`, `usual` and `constant` are factors: the error of answers, of the method's median, and of
    one number for everything.
    """
    file = benches / "predictions.json"
    months: Sequence[Mapping[str, float | str]] = (
        json.loads(file.read_bytes())["months"] if file.exists() else []
    )
    return months


def medians() -> Iterator[tuple[str, Sequence[tuple[str, float, float]]]]:
    """The medians behind estimates: by kind of method, then by kind of card, with their people."""
    for kind, median in typical().kinds.items():
        cards = [
            (name.removeprefix(f"{kind}, "), each.speedup, each.people)
            for name, each in typical().cards.items()
            if name.startswith(f"{kind}, ")
        ]
        yield kind, [("every card", median.speedup, median.people), *cards]
