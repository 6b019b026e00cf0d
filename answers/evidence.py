"""Find the speedups that people got with a model on a card, or on similar cards.

`evidence.json` holds the measured, imported and published speedups of single requests. Published
figures with long prompts, very short answers or models partly in main memory are left out. The
pipeline writes the file from `results/`, and a test compares the two. Each person counts once: a
figure is the median of people's medians.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from statistics import median, median_low
from typing import Literal, TypeAlias

import msgspec

Tier = Literal["measured", "imported", "published"]
TIERS: tuple[Tier, ...] = ("measured", "imported", "published")
ALL_TASKS = "all"
CONFOUNDED = "confounded"  # more than speculation differs: counts only without any other report
# The difference between people with the same card, model and method: the standard deviation of the
# logarithms of their speedups in `results/published`, rounded up.
BETWEEN_PEOPLE = 0.15
_Z90 = 1.6449
_BUILD = re.compile(r"b?(\d{3,6})")


class Figure(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True):
    """A speedup, its 90 % interval if it was measured, and the tokens/s without speculation."""

    method: str
    depth: int | None
    draft: str | None
    task: str
    speedup: float
    before_tps: float | None = None
    low: float | None = None
    high: float | None = None


class Report(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True):
    """The speedups that one person, or a pooled group of people, got with a model on a machine.

    `card` is a key of `schemas/devices.json`, or a processor if `on_cpu`. `doubts` are reasons why
    a report cannot justify a *Yes* on its own: it names no card, it is a guess or a projection, it
    is from before 2025, or the method's authors wrote it.
    """

    tier: Tier
    card: str
    cards: int
    on_cpu: bool
    backend: str
    model: str
    quantisation: str | None
    engine: str
    build: str | None
    day: str | None
    person: str
    people: int
    source: str
    figures: tuple[Figure, ...]
    doubts: tuple[str, ...] = ()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A method's gain: the median figure, with a 90 % interval.

    The interval is the figure's own or, if the figure has none, a prediction interval for one more
    person. `least` and `most` are the range over people. `lost` means that more people lost than
    gained, and that no newer build of the same engine showed a gain. `sure` means that at least one
    figure has no doubts.
    """

    tier: Tier
    method: str
    depth: int | None
    draft: str | None
    people: int
    speedup: float
    low: float
    high: float
    least: float
    most: float
    before_tps: float | None
    quantisation: str | None
    sources: tuple[str, ...]
    lost: bool
    sure: bool


Pair: TypeAlias = tuple[Report, Figure]


@cache
def reports() -> tuple[Report, ...]:
    """The evidence reports that ship with the program."""
    data = resources.files("answers").joinpath("evidence.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[Report, ...])


@cache
def by_model() -> Mapping[str, Sequence[Report]]:
    """The evidence reports that ship with the program, grouped by model."""
    found = defaultdict(list)
    for report in reports():
        found[report.model].append(report)
    return found


def found_here(
    here: Iterable[Report], task: str | None = None, quantisation: str | None = None
) -> tuple[Found, ...]:
    """Each method's gain in reports on one card and model, from the best tier that has figures.

    Figures of the requested task take precedence over figures for all tasks, and figures for the
    requested quantisation over figures for others.
    """
    by_method = defaultdict(list)
    for report in here:
        for figure in report.figures:
            by_method[figure.method].append((report, figure))
    return tuple(_of_method(pairs, task, quantisation) for pairs in by_method.values())


def _of_method(pairs: Sequence[Pair], task: str | None, quantisation: str | None) -> Found:
    tier = min((report.tier for report, _ in pairs), key=TIERS.index)
    known = [(report, figure) for report, figure in pairs if report.tier == tier]
    for holds in (
        lambda pair: CONFOUNDED not in pair[0].doubts,
        lambda pair: pair[1].task == (task or ALL_TASKS),
        lambda pair: pair[1].task == ALL_TASKS,
        lambda pair: pair[0].quantisation == quantisation,
    ):
        known = [*filter(holds, known)] or known
    settings = defaultdict(list)
    for report, figure in known:
        settings[figure.depth, figure.draft].append((report, figure))
    # The setting that most people tried; the fastest if several are equal.
    best = max(settings.values(), key=lambda each: (_people(each), _over_people(each)))
    return _found(best, tier, lost=_lost(known))


def _found(pairs: Sequence[Pair], tier: Tier, *, lost: bool) -> Found:
    """The median figure: of people, if published, else of figures.

    A measured figure has its own interval; any other has a prediction interval for one more person.
    """
    published, people = tier == "published", _people(pairs)
    each = [*_by_person(pairs).values()]
    figures = sorted(figure.speedup for _, figure in pairs)
    middle = _over_people(pairs) if published else median_low(figures)
    _, figure = min(pairs, key=lambda pair: abs(math.log(pair[1].speedup / middle)))
    low, high = figure.low, figure.high
    if published or low is None or high is None:
        spread = BETWEEN_PEOPLE * math.sqrt(1 + 1 / (people if published else 1))
        low, high = middle / math.exp(_Z90 * spread), middle * math.exp(_Z90 * spread)
    rates = [before for _, x in pairs if (before := x.before_tps) is not None]
    kinds = {report.quantisation for report, _ in pairs}
    return Found(
        tier=tier,
        method=figure.method,
        depth=figure.depth,
        draft=figure.draft,
        people=people,
        speedup=middle,
        low=low,
        high=high,
        least=min(each),
        most=max(each),
        before_tps=median(rates) if rates else None,
        quantisation=kinds.pop() if len(kinds) == 1 else None,
        sources=tuple(dict.fromkeys(report.source for report, _ in pairs)),
        lost=lost,
        sure=any(not report.doubts for report, _ in pairs),
    )


def _people(pairs: Iterable[Pair]) -> int:
    return sum({report.person: report.people for report, _ in pairs}.values())


def _over_people(pairs: Iterable[Pair]) -> float:
    return math.exp(median(map(math.log, _by_person(pairs).values())))


def _by_person(pairs: Iterable[Pair]) -> dict[str, float]:
    """The median speedup of each person."""
    each = defaultdict(list)
    for report, figure in pairs:
        each[report.person].append(math.log(figure.speedup))
    return {person: math.exp(median(values)) for person, values in each.items()}


def _lost(pairs: Sequence[Pair]) -> bool:
    """Whether more people lost than gained at their best depth, and no newer build gained."""
    by_depth = defaultdict(list)
    for pair in pairs:
        by_depth[pair[1].depth].append(pair)
    best: dict[str, float] = defaultdict(float)
    for at_depth in by_depth.values():
        for person, speedup in _by_person(at_depth).items():
            best[person] = max(speedup, best[person])
    losers = [pair for pair in pairs if best[pair[0].person] < 1]
    gainers = [pair for pair in pairs if best[pair[0].person] >= 1]
    if _people(losers) <= _people(gainers):
        return False
    return not any(all(_newer(gain, loss) for loss, _ in losers) for gain, _ in gainers)


def _newer(report: Report, than: Report) -> bool:
    """Whether `report` used a newer build of the same engine: by build number, else by date."""
    if report.engine != than.engine:
        return False
    numbers = [_BUILD.fullmatch(each.build or "") for each in (report, than)]
    if numbers[0] and numbers[1]:
        return int(numbers[0][1]) > int(numbers[1][1])
    return bool(report.day and than.day) and str(report.day) > str(than.day)
