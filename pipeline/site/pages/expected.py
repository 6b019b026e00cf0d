"""Show what moves the estimate of an answer, and how far off it was on later figures."""

import json
from collections.abc import Mapping, Sequence
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
    lines: Sequence[tuple[str, str, str, float, float]]
    grid: Sequence[tuple[float, float]]

    @property
    def last(self) -> Mapping[str, float | str]:
        return self.months[-1]


def running_error(benches: Path) -> RunningError | None:
    """The running error of `make predictions`; `None` before the bench has written it."""
    file = benches / "predictions.json"
    months = json.loads(file.read_bytes())["months"] if file.exists() else []
    if not months:
        return None
    step = WIDTH / max(1, len(months) - 1)
    lines = []
    for column, style, name in LINES:
        values = [float(month[column]) for month in months]
        points = (f"{at * step:g},{_y(value):g}" for at, value in enumerate(values))
        lines.append((f"M{'L'.join(points)}", style, name, values[-1], _y(values[-1])))
    grid = tuple((_y(value), value) for value in (1.0, 1.1, 1.2, 1.3, 1.4))
    return RunningError(months=months, lines=lines, grid=grid)


def medians() -> Sequence[tuple[str, Sequence[tuple[str, float, float]]]]:
    """The medians behind estimates: by kind of method, then by kind of card, with their people."""
    known = typical()
    return tuple(
        (
            kind,
            (
                ("every card", median.speedup, median.people),
                *(
                    (name.removeprefix(f"{kind}, "), each.speedup, each.people)
                    for name, each in known.cards.items()
                    if name.startswith(f"{kind}, ")
                ),
            ),
        )
        for kind, median in known.kinds.items()
    )


def _y(value: float) -> float:
    return round(HEIGHT * (TOP - min(value, TOP)) / (TOP - 1), 2)
