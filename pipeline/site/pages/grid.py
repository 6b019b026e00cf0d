"""The map of the home page: a row for each device, its backends side by side in every square."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from urllib.parse import urlencode

from pipeline.site.pages.environment import interval_kind, request_words, task
from pipeline.site.pages.map import ALL, MapFilter, colour_strength, style_of
from pipeline.site.pages.model import device_address
from pipeline.site.rows import Row, grouped
from schemas.vocabulary import SIZES, TASKS, VERDICTS, say

MEASURED, PUBLISHED = "measured", "published"
PROCESSORS = "Processors"
SHARED = "Memory shared with the processor, or not stated"
BANDS_GIB = (32, 24, 16, 12, 8)  # a band ends above each of them
OPEN_ROWS = 40  # so many rows are in sight before a band is folded
PHONE_ROWS = 12  # of these on a phone, where a row is twice as high, until the rest is asked for
UNSTATED = "not stated"  # the backend of a published figure whose source leaves it out
CLEAR = ("helps", "hurts")
DIFFERS = "; its two runs differ in more than speculation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """One backend's figure in one square, with the page of the cells behind it."""

    row: Row
    address: str
    words: str
    style: str
    colour: str

    @property
    def sign(self) -> str:
        """The verdict's sign; a figure without an interval has none."""
        return VERDICTS[self.row.mark].label[0] if self.row.mark else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRow:
    """One device: `cells` are the squares of each column, none where nobody has measured."""

    label: str
    detail: str
    address: str
    measured: int
    cells: tuple[tuple[str, tuple[Square, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Devices of about the same memory; folded where there are too many to show at once."""

    label: str
    rows: tuple[DeviceRow, ...]
    open: bool
    first: int  # rows that a phone shows at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    columns: tuple[str, ...]
    bands: tuple[Band, ...]


def grid(choice: MapFilter) -> Grid:
    """The map of a choice: only sizes that somebody has a figure for have a column."""
    occurring = {row.size_class for row in choice.squares}
    columns = (size.label for size in SIZES.values() if size.label in occurring)
    return _grid(
        {
            column: [_square(row, choice) for row in choice.squares if row.size_class == column]
            for column in columns
        }
    )


def target_grid(squares: Iterable[Row]) -> Grid:
    """The map of one target: a column for each task, the best setting of each backend."""
    by_task = grouped(squares, attrgetter("task"))
    found = (name for name in (ALL, *TASKS) if by_task[name])
    return _grid({task(name): [_target_square(row) for row in by_task[name]] for name in found})


def _grid(squares: Mapping[str, list[Square]]) -> Grid:
    found = sorted({each.row.device for listed in squares.values() for each in listed})
    rows = [
        _device(
            tuple(
                (column, tuple(each for each in listed if each.row.device == device))
                for column, listed in squares.items()
            )
        )
        for device in found
    ]
    ordered = sorted(rows, key=lambda each: (each[0], -each[1].measured, each[1].label))
    bands = [
        (names[1], tuple(row for _, row in listed))
        for names, listed in groupby(ordered, key=lambda each: each[0])
    ]
    opened = _opened([rows for _, rows in bands])
    first = max(1, PHONE_ROWS // max(len(opened), 1))
    return Grid(
        columns=tuple(squares),
        bands=tuple(
            Band(
                label=label,
                rows=rows,
                open=number in opened,
                first=first if len(rows) > first + 1 else len(rows),
            )
            for number, (label, rows) in enumerate(bands)
        ),
    )


def caption(choice: MapFilter) -> str:
    """One sentence about what a map shows; it names a figure only where the verdict is clear."""
    own = [square for square in choice.squares if square.tier == MEASURED]
    found = [square for square in own if square.speedup is not None]
    words = f"{task(choice.task)}{'' if choice.method == ALL else f' with {choice.label}'}"
    also = _other_tiers(choice.squares)
    if not found:
        return f"{words}: nothing has been measured yet.{also}"
    cells = say.count(sum(square.cells for square in own), "setting")
    losing = sum(square.losing_cells for square in own)
    return (
        f"{words}: {_shown(choice, found)} Of {cells} behind"
        f" {'it' if len(found) == 1 else 'them'}, {losing} clearly"
        f" {'loses' if losing == 1 else 'lose'}.{also}"
    )


def _shown(choice: MapFilter, found: list[Row]) -> str:
    number = say.count(len(found), "measured square")
    helps = [square for square in found if square.verdict == "helps"]
    hurts = [square for square in found if square.verdict == "hurts"]
    if choice.shown == "typical":
        return (
            f"the typical setting clearly helps in {len(helps)} and clearly loses in"
            f" {len(hurts)} of {number}."
        )
    if choice.shown == "worst":
        least = min(hurts, key=attrgetter("speedup"), default=None)
        lowest = (
            f"; the lowest is {say.times(least.speedup)} on {least.device_label}" if least else ""
        )
        return f"some setting clearly loses in {len(hurts)} of {number}{lowest}."
    best = choice.claim
    if best is None or best.at_least is None:
        return f"no setting of {number} is clearly faster, the choice among them allowed for."
    return (
        f"the surest gain is at least {say.times(best.at_least)} on {best.device_label},"
        f" {say.best_of(best.choices)} in {number}."
    )


def _other_tiers(squares: Iterable[Row]) -> str:
    tiers = sorted(square.tier for square in squares if square.tier != MEASURED)
    counted = ((tier, len(list(found))) for tier, found in groupby(tiers))
    return "".join(f" {say.count(number, f'{tier} square')}." for tier, number in counted)


def _opened(bands: list[tuple[DeviceRow, ...]]) -> set[int]:
    """The bands that start unfolded: those with the most measured figures, while there is room."""
    order = sorted(
        range(len(bands)),
        key=lambda at: (-sum(row.measured > 0 for row in bands[at]), len(bands[at]), at),
    )
    opened: set[int] = set()
    room = OPEN_ROWS
    for at in order:
        if len(bands[at]) <= room:
            opened.add(at)
            room -= len(bands[at])
    return opened or {min(order, key=lambda at: len(bands[at]), default=0)}


def _device(
    cells: tuple[tuple[str, tuple[Square, ...]], ...],
) -> tuple[tuple[int, str], DeviceRow]:
    rows = [each.row for _, squares in cells for each in squares]
    first = rows[0]
    return _band(first), DeviceRow(
        label=first.device_label,
        detail=" · ".join((*_total(first), *sorted({row.backend for row in rows} - {UNSTATED}))),
        address=device_address(first.device),
        measured=sum(row.tier == MEASURED for row in rows),
        cells=cells,
    )


def _total(row: Row) -> tuple[str, ...]:
    """The memory of several cards together, where the label has that of one of them."""
    named = row.vram_gib is None or row.device_label.endswith(f" {row.vram_gib} GB")
    return () if named else (f"{row.vram_gib} GB in all",)


def _band(row: Row) -> tuple[int, str]:
    if row.device_kind != "gpu":
        return len(BANDS_GIB) + 2, PROCESSORS
    if row.vram_gib is None:
        return len(BANDS_GIB) + 1, SHARED
    above = [number for number, limit in enumerate(BANDS_GIB) if row.vram_gib > limit]
    place = above[0] if above else len(BANDS_GIB)
    if place == 0:
        return place, f"More than {BANDS_GIB[0]} GB"
    if place == len(BANDS_GIB):
        return place, f"{BANDS_GIB[-1]} GB and less"
    return place, f"{BANDS_GIB[place] + 1} to {BANDS_GIB[place - 1]} GB"


def _square(row: Row, choice: MapFilter) -> Square:
    return _drawn(row, _address(row, choice), choice.shown)


def _target_square(row: Row) -> Square:
    if row.tier == PUBLISHED:
        return _drawn(row, device_address(row.device), "best")
    tier = {} if row.tier == MEASURED else {"tier": row.tier}
    asked = {"device": row.device, "backend": row.backend, "target": row.target, "task": row.task}
    return _drawn(row, f"explore/?{urlencode({**asked, **tier})}", "best")


def _drawn(row: Row, address: str, shown: str) -> Square:
    return Square(
        row=row,
        address=address,
        words=_words(row, shown),
        style=style_of(row),
        colour=f"{colour_strength(row.speedup) * 100 if row.speedup else 0:.0f}%",
    )


def _address(row: Row, choice: MapFilter) -> str:
    """Where the figures behind a square are: all cells with its choice, or the printed rows."""
    if row.tier == "published":
        return f"{device_address(row.device)}#published-figures"
    size = next(each.id for each in SIZES.values() if each.label == row.size_class)
    # What another suite measured over its own tasks has no cell over all of ours.
    tasks = {} if row.tier != MEASURED and row.task == ALL else {"task": row.task}
    method = {} if choice.method == ALL else {"method": choice.method}
    tier = {} if row.tier == MEASURED else {"tier": row.tier}
    words = {"device": row.device, "backend": row.backend, "size": size}
    return f"explore/?{urlencode({**words, **tasks, **method, **tier})}"


def _words(row: Row, shown: str) -> str:
    backend = f"backend {UNSTATED}" if row.backend == UNSTATED else row.backend
    if row.speedup is None:
        return f"{backend}: no speedup could be measured"
    depth = f" at depth {row.depth}" if row.depth else ""
    interval = (
        f" {say.interval(row.interval_low, row.interval_high)} {interval_kind(row)}"
        if row.interval_low is not None
        else ""
    )
    verdict = f", {VERDICTS[row.mark].label[2:]}" if row.mark else ""
    tier = "" if row.tier == MEASURED else f" ({row.tier})"
    return (
        f"{backend}: {say.times(row.speedup)}{interval}{verdict}{tier},"
        f" {request_words(row)}; {shown} of"
        f" {say.count(row.cells, 'setting')}: {row.method_label}{depth} with {row.target_label}"
        f"{DIFFERS if row.differs else ''}"
    )
