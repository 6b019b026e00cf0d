"""Measure predictions against figures of people whom they had not seen.

Every measure is taken by rows and by people: by rows each figure counts once, by people each person
counts once. The error is exp of the median of |log(predicted / true)|; by people, it is that median
within each person, then over people. Figures within 3 % of 1 have no side.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

_EVEN = 0.03
Values = Iterable[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A figure and its prediction; all numbers are logarithms.

    `reach` is the half-width of the printed interval, `None` if the design has none. `stated` means
    that the source states the depth.
    """

    person: str
    truth: float
    middle: float
    reach: float | None = None
    stated: bool = True
    kind: str = ""

    @property
    def off(self) -> float:
        return abs(self.middle - self.truth)


def errors(found: Sequence[Scored]) -> tuple[float, float]:
    """The error as a factor, by rows and by people."""
    values = [(one.person, one.off) for one in found]
    by_rows = statistics.median(off for _, off in values)
    by_people = statistics.median(each_person(values, statistics.median))
    return math.exp(by_rows), math.exp(by_people)


def held(found: Sequence[Scored]) -> tuple[float, float]:
    """The share of figures inside their intervals, by rows and by people."""
    return shares((one.person, one.off <= one.reach) for one in found if one.reach is not None)


def side(found: Sequence[Scored]) -> tuple[float, float]:
    """The share of predictions on the figure's side of 1, by rows and by people."""
    far = (one for one in found if abs(one.truth) > _EVEN)
    return shares((one.person, (one.middle > 0) == (one.truth > 0)) for one in far)


def gained(found: Sequence[Scored]) -> tuple[float, float]:
    """The share of figures above 1, by rows and by people."""
    return shares((one.person, one.truth > 0) for one in found)


def half_width(found: Iterable[Scored]) -> float | None:
    """The median half-width of the intervals, as a factor; `None` without intervals."""
    reaches = [one.reach for one in found if one.reach is not None]
    return math.exp(statistics.median(reaches)) if reaches else None


def shares(values: Iterable[tuple[str, bool]]) -> tuple[float, float]:
    """The share of true values, by rows and by people; NaN without values."""
    known = [(person, float(value)) for person, value in values]
    if not known:
        return math.nan, math.nan
    rows = statistics.fmean(value for _, value in known)
    return rows, statistics.fmean(each_person(known, statistics.fmean))


def each_person(values: Values, join: Callable[[list[float]], float]) -> list[float]:
    """Reduce the values of each person to one."""
    return [join(own) for own in by_person(values).values()]


def by_person(values: Values) -> Mapping[str, list[float]]:
    """The values of each person."""
    found = defaultdict(list)
    for person, value in values:
        found[person].append(value)
    return found


def people(found: Iterable[Scored]) -> int:
    return len({one.person for one in found})


def line(name: str, found: Sequence[Scored]) -> Mapping[str, object]:
    """A line of a table: all measures of a design on these figures."""
    stated = [one for one in found if one.stated]
    width = half_width(found)
    return {
        "design": name,
        "figures": len(found),
        "people": people(found),
        "off": _pair(errors(found)),
        "depth stated": _pair(errors(stated)) if stated else "",
        "side": _percent(side(found)),
        "holds": _percent(held(found)) if width else "",
        "half-width": f"{width:.2f}" if width else "",
    }


def _pair(values: tuple[float, float]) -> str:
    return " / ".join(f"{value:.3f}" for value in values)


def _percent(values: tuple[float, float]) -> str:
    return " / ".join("" if math.isnan(value) else f"{value:.0%}" for value in values)
