"""Draw the strips: one row for each device and model, the same on every page."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import duckdb

from pipeline.site.pages import model
from pipeline.site.rows import Row, grouped, read
from pipeline.site.tally import USUAL_ROWS, Figure, direction, spread, tally
from schemas.vocabulary import COMMON_DEVICES, GRADES, METHODS, SIZES, VERDICTS, say

TIERS = ("measured", "imported", "published")
LOW, HIGH = 0.4, 5.0  # ends of the axis
AXIS = (0.75, 1, 1.5, 2, 3)
MOST_DOTS = 16  # dots of one kind in one row
# The number of visible rows in the first group, in the second group, and in each later group.
OPEN_ROWS = (10, 7, 4)
MOST_ROWS = 120  # rows on a page
# Measured groups come first if this many people measured one model of a useful size.
ENOUGH_PEOPLE, LEAST_PARAMETERS = 5, SIZES["1-3B"].below or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """One row as drawn, with positions in percent of the axis."""

    row: Row
    tone: str
    grade: str
    style: str
    before: str
    after: str
    figure: str
    setting: str
    words: str
    evidence: str
    tick: float
    bar: tuple[float, float]
    line: tuple[float, float] | None
    dots: tuple[float, ...]
    others: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A heading, how the method drafts, a tally, and rows; the `folded` appear after a click."""

    label: str
    method: str
    finding: str
    spread: str
    strips: tuple[Strip, ...]
    folded: tuple[Strip, ...]


def main_rows(connection: duckdb.DuckDBPyConnection) -> tuple[Row, ...]:
    """One row for each device and model, with its usual method, in its best tier."""
    return read(connection, "pairs", scope="pair")


def rows_by_method(connection: duckdb.DuckDBPyConnection) -> tuple[Row, ...]:
    """One row for each device and model with each method, in its best tier."""
    return read(connection, "pairs", scope="method")


def ranked(rows: Iterable[Row]) -> list[Row]:
    """Sort rows from the fastest, unclear verdicts counting as 1; unknown accounts come last."""
    return sorted(rows, key=lambda r: (r.backing, -rank(r), r.device_label, r.target_label))


def rank(row: Row) -> float:
    if row.verdict is None:
        return float(row.speedup)
    tone = VERDICTS[row.verdict].tile
    return float({"gain": row.interval_low, "loss": row.speedup}.get(tone, 1.0))


def by_method(rows: Sequence[Row]) -> tuple[list[Group], int]:
    """The groups on the home page, and the number of rows left out (the last by `best_known`).

    A method with few pairs that were not measured well has no group if another method has more.
    """
    methods = grouped(rows, lambda row: row.method_label).values()
    large = [own for own in methods if len(own) >= USUAL_ROWS or _well_measured(own)] or methods
    ordered = sorted(large, key=_place)
    room = _room([len(own) for own in ordered])
    opened = chain(OPEN_ROWS, repeat(OPEN_ROWS[-1]))
    groups = [_group(*each) for each in zip(ordered, opened, room, strict=False)]
    return groups, len(rows) - sum(room)


def _place(own: Sequence[Row]) -> tuple[bool, int, str]:
    return not _well_measured(own), -sum(row.backing == 0 for row in own), own[0].method_label


def _room(sizes: Sequence[int]) -> list[int]:
    """The rows to show per group: all of a small group, an equal number of each large group."""
    room, left, waiting = [0] * len(sizes), MOST_ROWS, len(sizes)
    for place in sorted(range(len(sizes)), key=sizes.__getitem__):
        room[place] = min(sizes[place], left // waiting)
        left, waiting = left - room[place], waiting - 1
    return room


def _well_measured(rows: Iterable[Row]) -> bool:
    people = Counter[str]()
    for row in rows:
        counts = row.tier == "measured" and row.backing == 0
        if counts and (row.parameters or 0) >= LEAST_PARAMETERS:
            people[row.target] += row.people
    return max(people.values(), default=0) >= ENOUGH_PEOPLE


def _group(rows: Sequence[Row], in_sight: int, most: int) -> Group:
    known = _with_unknown(best_known(rows), in_sight)[:most]
    shown = known[:in_sight] if len(known) > in_sight + 1 else known
    return Group(
        label=rows[0].method_label,
        method=METHODS[rows[0].method].summary,
        finding=tally(figures(rows), "pair"),
        spread=spread(figures(rows)),
        strips=tuple(map(strip, ranked(shown))),
        folded=tuple(map(strip, ranked(known[len(shown) :]))),
    )


def _with_unknown(rows: Sequence[Row], in_sight: int) -> list[Row]:
    """The rows with up to a third of those in sight for unknown accounts, which are marked.

    A sender sees the result beside the published figures, before a maintainer knows the account.
    """
    ours = [row for row in rows if not row.backing]
    others = [row for row in rows if row.backing]
    place = in_sight - min(len(others), in_sight // 3)
    return [*ours[:place], *others[: in_sight // 3], *ours[place:], *others[in_sight // 3 :]]


def best_known(rows: Iterable[Row]) -> list[Row]:
    """Sort rows: first each device's most-tried model, on common devices first, then the rest.

    Rows from unknown accounts come last.
    """

    def tried(row: Row) -> tuple[int, int, int, str]:
        return -row.people, -row.figures, -(row.parameters or 0), row.target_label

    def common(row: Row) -> int:
        return getattr(COMMON_DEVICES.get(row.device_label), "common", 0)

    ordered = [
        (row.backing, nth, -common(row), tried(row), row.device_label, row)
        for own in grouped(rows, lambda row: row.device).values()
        for nth, row in enumerate(sorted(own, key=tried))
    ]
    return [row for *_, row in sorted(ordered, key=lambda each: each[:-1])]


def figures(rows: Iterable[Row]) -> list[Figure]:
    return [Figure(row.speedup, row.verdict, row.method, row.backing) for row in rows]


def choices(rows: Sequence[Row]) -> Iterator[tuple[str, str, Sequence[tuple[str | int, str]]]]:
    """The filters on the map: name, label, and the values that occur in the rows, with labels."""
    sizes = sorted({(row.size_order, row.size_class) for row in rows if row.size_class})
    letters = {grade(row) for row in rows}
    memories = sorted({row.vram_gib for row in rows if row.vram_gib})
    backends = sorted({row.backend for row in rows})
    yield "memory", "Memory", [(gib, f"{gib} GB") for gib in memories]
    yield "size", "Model size", [(label, label) for _, label in sizes]
    yield "backend", "Backend", [(each, each) for each in backends]
    known = [(each.id, each.word) for each in GRADES.values() if each.id in letters]
    yield "grade", "Evidence", known


def typical(rows: Iterable[Row]) -> Row | None:
    """The published row from the most people; if several tie, the one with the most figures."""
    bare = [row for row in rows if row.verdict is None]

    def known(row: Row) -> tuple[int, int, float]:
        return row.people, row.figures + len(row.other_dots), -row.speedup

    return max(bare, key=known, default=None)


def strip(row: Row) -> Strip:
    """One row of the table `strip` as drawn; its bar extends from 1 to the figure."""
    tone, letter = direction(row.speedup, row.verdict), grade(row)
    tick, even = position(row.speedup), position(1)
    ends = (row.interval_low, row.interval_high) if row.interval_low else (row.least, row.most)
    before, after = rates(row)
    return Strip(
        row=row,
        tone=tone,
        grade=letter,
        style=f"{row.tier} dm-strip--{tone} dm-strip--{letter}",
        before=before,
        after=after,
        figure=figure(row),
        setting=setting(row),
        words=" \N{MIDDLE DOT} ".join(filter(None, words(row))),
        evidence=evidence_address(row),
        tick=tick,
        bar=(min(tick, even), round(abs(tick - even), 1)),
        line=(position(ends[0]), position(ends[1])) if ends[0] < ends[1] else None,
        dots=tuple(map(position, thinned(row.dots))),
        others=tuple(map(position, sorted({*chain(*other_dots(row))}))),
    )


def rates(row: Row) -> tuple[str, str]:
    """Tokens/s without and with speculation; empty if only a ratio is known.

    The second rate is the first times the row's figure. The first rate is marked as approximate if
    it is a median over several people, or if more than speculation differs.
    """
    if row.baseline_tps is None:
        return "", ""
    sign = "\N{ALMOST EQUAL TO} " if row.people > 1 or row.confounded else ""
    least = row.verdict == "helps"
    after = row.baseline_tps * (row.interval_low if least else row.speedup)
    bound = "\N{GREATER-THAN OR EQUAL TO} " if least else ""
    return f"{sign}{say.rate(row.baseline_tps)}", f"{bound}{say.rate(after)}"


def setting(row: Row) -> str:
    """The method with its depth, or with the range of depths that people used."""
    ends = sorted({row.depths[0], row.depths[-1]}) if row.depths else [row.depth]
    depth = "\N{EN DASH}".join(map(str, filter(None, ends)))
    return f"{row.method_label} {depth}".strip()


def grade(row: Row) -> str:
    """The grade of the evidence, by `schemas/vocabulary/grades.toml`."""
    return "A" if row.tier != "published" else "B" if row.people > 1 else "C"


def figure(row: Row) -> str:
    """A row's speedup; for a clear gain, its lower bound, corrected for choosing the best."""
    if row.verdict == "helps":
        return f"\N{GREATER-THAN OR EQUAL TO} {say.times(row.interval_low)}"
    sign = "\N{ALMOST EQUAL TO} " if row.confounded else ""
    return f"{sign}{say.times(row.speedup)}"


def words(row: Row) -> tuple[str | None, ...]:
    """The words below the setting, such as interval, verdict, number of people, and tier."""
    tasks = [task for task in row.tasks if task != "all"]
    named = f"{say.listed(tasks)} only" if tasks else None
    weights = f"{len(row.quantisations)} quantisations" if len(row.quantisations) > 1 else None
    if row.verdict is not None:
        between = say.speedup(row.speedup, row.interval_low, row.interval_high)
        people = f"{say.count(row.people, 'person')}{', unknown' if row.backing else ''}"
        return between, VERDICTS[row.mark].word, people, named, *row.caches, row.tier
    ends = f"{row.least:.2f}\N{EN DASH}{row.most:.2f}" if row.people > 1 else None
    rated = f"rates of {row.rated}" if 0 < row.rated < row.people else None
    people = say.count(row.people, "person")
    if row.people > 1 and row.one_source:
        people = f"{people} from one source"
    return people, ends, rated, named, weights, row.tier


def evidence_address(row: Row) -> str:
    """The address of a figure's source: a submission, or a row on the device's page."""
    if row.submission:
        return model.submission_address(row.submission)
    return f"{model.device_address(row.device)}#{row.source}--{row.row_id}"


def axis() -> list[tuple[str, float]]:
    """The labels of the axis with their positions; the marks at an end may lie beyond it."""
    within = [(f"{value:g}", position(value)) for value in AXIS]
    below, above = "\N{LESS-THAN OR EQUAL TO}", "\N{GREATER-THAN OR EQUAL TO}"
    return [(f"{below}{LOW:g}", 0.0), *within, (f"{above}{HIGH:g}", 100.0)]


def position(ratio: float, digits: int = 1) -> float:
    """Percent along the log axis; values beyond an end are drawn at that end."""
    share = math.log(max(ratio, LOW) / LOW) / math.log(HIGH / LOW)
    return round(min(share, 1.0) * 100, digits)


def other_dots(row: Row) -> list[list[float]]:
    """The other speedups: a list per tier, as in `TIERS`, thinned if it is long."""
    found = grouped(row.other_dots, lambda dot: dot["tier"])
    return [thinned([dot["speedup"] for dot in found[tier]]) for tier in TIERS]


def thinned(dots: Sequence[float]) -> list[float]:
    """At most `MOST_DOTS` of the ordered dots, evenly spaced, including the first and the last."""
    count = min(MOST_DOTS, len(dots))
    return [dots[round(at * (len(dots) - 1) / max(count - 1, 1))] for at in range(count)]
