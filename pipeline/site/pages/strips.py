"""The strips: one row for each device and model, drawn the same on every page that has them."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median

from pipeline.site.pages import model
from pipeline.site.rows import Row, grouped
from schemas.vocabulary import VERDICTS, say

TIERS = ("measured", "imported", "published")
LOW, HIGH = 0.4, 5.0  # ends of the axis
AXIS = (0.5, 0.75, 1, 1.5, 2, 3, 4)
MOST_DOTS = 16  # of one kind in one row
# Of a group so many rows are in sight, and so many of all groups; a page has no more than the last.
OPEN_ROWS, OPEN_IN_ALL, MOST_ROWS = 40, 80, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One row as it is drawn: positions are in percent of the axis."""

    row: Row
    tone: str
    style: str
    figure: str
    setting: str
    words: str
    evidence: str
    tick: float
    line: tuple[float, float] | None
    dots: tuple[float, ...]
    others: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows under a heading that says what they show; `folded` ones wait for a click."""

    label: str
    address: str | None
    finding: str
    spread: str
    open: bool
    strips: tuple[Strip, ...]
    folded: tuple[Strip, ...]


def default_rows(rows: Iterable[Row]) -> list[Row]:
    """What pages draw without a choice of the reader: each device and model in its best tier."""
    return [
        row
        for row in rows
        if (row.selection, row.task, row.condition, row.tier_order) == (0, "all", None, 1)
    ]


def ranked(rows: Iterable[Row]) -> list[Row]:
    """The fastest first; a row whose verdict is not clear counts as 1."""
    return sorted(rows, key=lambda row: (-rank(row), row.device_label, row.target_label))


def rank(row: Row) -> float:
    if row.verdict is None:
        return float(row.speedup)
    tone = VERDICTS[row.verdict].tile
    return float({"gain": row.interval_low, "loss": row.speedup}.get(tone, 1.0))


def by_model(rows: Iterable[Row]) -> tuple[list[Group], int]:
    """The groups of the home page, of most devices first, and how many rows it leaves out."""
    models = grouped(rows, lambda row: row.target)
    several = sorted(
        (group for group in models.values() if len(group) > 1),
        key=lambda group: (-len(group), group[0].target_label),
    )
    alone = [group[0] for group in models.values() if len(group) == 1]
    groups: list[Group] = []
    shown = 0
    for group in (*several, *([alone] if alone else ())):
        if groups and shown + len(group) > MOST_ROWS:
            continue  # its fastest rows alone would flatter
        groups.append(_group(group, is_open=shown < OPEN_IN_ALL))
        shown += min(len(group), MOST_ROWS)
    return groups, sum(map(len, models.values())) - shown


def _group(rows: Sequence[Row], *, is_open: bool) -> Group:
    drawn = tuple(strip(row) for row in ranked(rows)[:MOST_ROWS])
    first, is_model = rows[0], len({row.target for row in rows}) == 1 < len(rows)
    return Group(
        label=first.target_label if is_model else "Models with one device",
        address=model.target_address(first.target) if is_model else None,
        finding=finding(rows) if is_model else "",
        spread=spread(rows, "device" if is_model else "model"),
        open=is_open,
        strips=drawn[:OPEN_ROWS],
        folded=drawn[OPEN_ROWS:],
    )


def finding(rows: Sequence[Row]) -> str:
    """What a group shows, in a few words; only most of its rows together claim a gain."""
    judged = [row for row in rows if row.verdict is not None]
    bare = [row for row in rows if row.verdict is None]
    if len(bare) >= len(judged):
        label, count = Counter(row.method_label for row in bare).most_common(1)[0]
        name = f"{label} " if 2 * count > len(bare) else ""
        return f"{name}usually {median(row.speedup for row in bare):.1f}{say.TIMES}"
    tones = Counter(VERDICTS[row.verdict].tile for row in judged)
    if tones.keys() == {"flat"}:
        return VERDICTS["no-clear-difference"].word
    for tone in ("gain", "loss"):
        if 2 * tones[tone] > len(judged):
            return f"a clear {tone} on {tones[tone]} of {say.count(len(judged), 'device')}"
    return "it depends on the device"


def spread(rows: Sequence[Row], noun: str) -> str:
    """How many rows there are, and from where to where their figures run."""
    figures = [row.speedup for row in rows]
    if len(rows) == 1:
        return say.count(1, noun)
    return f"{say.count(len(rows), noun)}, {say.times(min(figures))} to {say.times(max(figures))}"


def median_over_people(rows: Iterable[Row]) -> tuple[float, str] | None:
    """The median over the published rows of several devices, and from where to where they run."""
    bare = [row for row in rows if row.verdict is None]
    if len(bare) <= 1:
        return None
    return median(row.speedup for row in bare), spread(bare, "device")


def typical(rows: Iterable[Row]) -> Row | None:
    """The published row that most people, and then figures, are behind."""
    bare = [row for row in rows if row.verdict is None]

    def known(row: Row) -> tuple[int, int, float]:
        return row.people, row.figures + len(row.other_dots), -row.speedup

    return max(bare, key=known, default=None)


def strip(row: Row) -> Strip:
    """One row of the table `strip` as it is drawn."""
    tone = VERDICTS[row.verdict].tile if row.verdict else "bare"
    one = row.verdict is None and row.people == 1
    has_interval = row.interval_low is not None
    ends = (row.interval_low, row.interval_high) if has_interval else (row.least, row.most)
    return Strip(
        row=row,
        tone=tone,
        style=f"{row.tier} dm-strip--{tone}{' dm-strip--one' if one else ''}",
        figure=figure(row),
        setting=", ".join(filter(None, (row.method_label, row.depth and f"depth {row.depth}"))),
        words=" \N{MIDDLE DOT} ".join(filter(None, words(row))),
        evidence=evidence_address(row),
        tick=position(row.speedup),
        line=(position(ends[0]), position(ends[1])) if ends[0] < ends[1] else None,
        dots=tuple(map(position, thinned(row.dots))),
        others=tuple(map(position, sorted({*chain(*other_dots(row))}))),
    )


def figure(row: Row) -> str:
    """The number of a row: of a clear gain its lower bound, which allows for the choice."""
    if row.verdict == "helps":
        return f"\N{GREATER-THAN OR EQUAL TO} {say.times(row.interval_low)}"
    sign = "\N{ALMOST EQUAL TO} " if row.confounded else ""
    return f"{sign}{say.times(row.speedup)}"


def words(row: Row) -> tuple[str | None, ...]:
    """The words below the setting: interval and verdict, or range and people, and the tier."""
    tasks = [task for task in row.tasks if task != "all"]
    named = f"{say.listed(tasks)} only" if tasks else None
    weights = f"{len(row.quantisations)} quantisations" if len(row.quantisations) > 1 else None
    if row.verdict is not None:
        between = say.speedup(row.speedup, row.interval_low, row.interval_high)
        return between, VERDICTS[row.mark].word, named, row.tier
    several = row.people > 1
    return (
        f"{row.least:.2f}\N{EN DASH}{row.most:.2f}" if several else None,
        say.count(row.people, "person"),
        named,
        weights,
        row.tier,
    )


def evidence_address(row: Row) -> str:
    """Where the figure of a row can be looked up: a submission, or a row of the device's page."""
    if row.submission:
        return model.submission_address(row.submission)
    return f"{model.device_address(row.device)}#{row.source}--{row.row_id}"


def axis() -> list[tuple[str, float]]:
    """The marks of the axis with their positions."""
    return [(f"{value:g}", position(value)) for value in AXIS]


def position(ratio: float) -> float:
    """Percent along the axis; values beyond an end are drawn at that end."""
    share = math.log(max(ratio, 1e-9) / LOW) / math.log(HIGH / LOW)
    return round(min(max(share, 0.0), 1.0) * 100, 1)


def other_dots(row: Row) -> list[list[float]]:
    """The figures of other settings in the order of `TIERS`, thinned where many."""
    found = grouped(row.other_dots, lambda dot: dot["tier"])
    return [thinned([dot["speedup"] for dot in found[tier]]) for tier in TIERS]


def thinned(dots: Sequence[float]) -> list[float]:
    """At most `MOST_DOTS` of the ordered dots, evenly spaced, with the first and the last."""
    steps = MOST_DOTS - 1
    if len(dots) <= MOST_DOTS:
        return list(dots)
    return [dots[round(step * (len(dots) - 1) / steps)] for step in range(MOST_DOTS)]
