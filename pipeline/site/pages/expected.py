"""Show what moves the estimate of an answer, and how far off it was on later figures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from answers.estimate import typical

WIDTH, HEIGHT = 600.0, 200.0
TOP = 1.5  # the highest error in the drawing; the axis begins at 1, a perfect prediction
# The lines of the drawing: a column of the months, its style, and its name.
LINES = (
    ("off", "dm-whatif__curve", "the answer"),
    ("usual", "dm-whatif__ceiling", "the median of the method"),
    ("constant", "dm-whatif__ceiling", "one number for everything"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningError:
    """The errors of later figures by month: the lines as SVG paths, with their last values."""

    months: Sequence[Mapping[str, float | str]]
    last: Mapping[str, float | str]
    lines: Sequence[tuple[str, str, str, float, float]]
    grid: Sequence[tuple[float, float]]


def running_error(benches: Path) -> RunningError | None:
    """The running error of `make predictions`; `None` before the bench has written it."""
    file = benches / "predictions.json"
    months = json.loads(file.read_bytes())["months"] if file.exists() else []
    if not months:
        return None
    step, lines = WIDTH / max(1, len(months) - 1), []
    for column, style, name in LINES:
        values = [float(month[column]) for month in months]
        path = "L".join(f"{at * step:g},{_y(value):g}" for at, value in enumerate(values))
        lines.append((f"M{path}", style, name, values[-1], _y(values[-1])))
    grid = tuple((_y(value), value) for value in (1.0, 1.1, 1.2, 1.3, 1.4))
    return RunningError(months=months, last=months[-1], lines=lines, grid=grid)


def medians() -> Iterator[tuple[str, Sequence[tuple[str, float, float]]]]:
    """The medians behind estimates: by kind of method, then by kind of card, with their people."""
    for kind, median in typical().kinds.items():
        cards = [
            (name.removeprefix(f"{kind}, "), each.speedup, each.people)
            for name, each in typical().cards.items()
            if name.startswith(f"{kind}, ")
        ]
        yield kind, [("every card", median.speedup, median.people), *cards]


def _y(value: float) -> float:
    return round(HEIGHT * (TOP - min(value, TOP)) / (TOP - 1), 2)
