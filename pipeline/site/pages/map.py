"""The map: squares of best speedups, with model sizes across and devices, or tasks, down."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from urllib.parse import quote

from pipeline.site.pages.environment import task
from pipeline.site.pages.model import device_address
from pipeline.site.rows import Row, grouped
from schemas.vocabulary import SIZES, TASKS, say

ALL = "all"
SHOWN = ("best", "typical", "worst")  # which setting of a square its figure is
STYLES = {"helps": "gain", "hurts": "loss", "slower-in-all": "loss"}
FULL_COLOUR_AT = 2.5  # times faster or slower
COLUMN_GAP = 4
LONGEST_LABEL = 25  # as many letters as fit left of the squares


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The measures of one drawing: wide has labels left of the squares, narrow above them."""

    name: str
    width: int
    label_width: int
    label_height: int
    square_height: int
    row_gap: int
    head_height: int = 26
    evidence: bool = True  # whether a square says how many results are behind it


WIDE = Layout(name="wide", width=1000, label_width=232, label_height=0, square_height=52, row_gap=4)
NARROW = Layout(
    name="narrow", width=340, label_width=0, label_height=22, square_height=42, row_gap=8
)
LOW = replace(WIDE, square_height=40, evidence=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of squares, all of one device and backend, or of one task."""

    label: str
    detail: str
    address: str
    squares: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One square on the drawing; `square` is `None` where nothing has been measured."""

    x: float
    y: float
    size_class: str
    address: str
    fill: str  # where an empty square is answered, with the command that fills it
    square: Row | None
    colour: str
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    line: Line
    y: float
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    label: str
    layout: Layout
    height: float
    tile_width: float
    columns: tuple[tuple[float, str], ...]
    lines: tuple[Placed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFilter:
    """What can be chosen on the map, and what is in it."""

    task: str
    method: str
    shown: str
    label: str  # what the method is called
    squares: tuple[Row, ...]
    claim: Row | None = None  # the best measured setting of all squares, where that is shown

    @property
    def key(self) -> str:
        return f"{self.task}--{self.method}--{self.shown}"


def choices(squares: Iterable[Row], claims: Iterable[Row]) -> Iterator[MapFilter]:
    """Every task with all methods and with each, as the best, typical and worst setting."""
    claimed = {row.scope: row for row in claims}
    found = grouped(squares, lambda each: (each.task, each.choice, each.shown))
    labels = {
        choice: "All methods" if choice == ALL else rows[0].method_label or choice
        for (_, choice, _), rows in sorted(found.items())
    }
    tasks = [name for name in (ALL, *TASKS) if any(task == name for task, *_ in found)]
    for name, method, shown in product(tasks, labels, SHOWN):
        yield MapFilter(
            task=name,
            method=method,
            shown=shown,
            label=labels[method],
            squares=found[name, method, shown],
            claim=claimed.get(f"{name}|{method}") if shown == SHOWN[0] else None,
        )


def opening(listed: tuple[MapFilter, ...]) -> MapFilter:
    """The choice that the page opens with: all tasks where they have figures, else the fullest."""
    full = [each for each in listed if (each.method, each.shown) == (ALL, SHOWN[0])]
    if full[0].task == ALL and measured(full[0].squares):
        return full[0]
    return max(full, key=lambda choice: len(measured(choice.squares)))


def by_device(squares: Iterable[Row]) -> tuple[Line, ...]:
    """A line for each device and backend: graphics cards first, the largest memory on top."""
    lines: dict[tuple[bool, int, str, str], list[Row]] = {}
    for row in squares:
        order = (row.device_kind != "gpu", -(row.vram_gib or 0), row.device_label, row.backend)
        lines.setdefault(order, []).append(row)
    return tuple(_device_line(lines[order]) for order in sorted(lines))


def by_task(squares: Iterable[Row]) -> tuple[Line, ...]:
    """A line for each task and backend of one device, each leading to its cells."""
    lines: dict[tuple[int, str, str], list[Row]] = {}
    for row in squares:
        order = list(TASKS).index(row.task) if row.task in TASKS else -1
        lines.setdefault((order, row.task, row.backend), []).append(row)
    several = len({backend for *_, backend in lines}) > 1
    return tuple(
        Line(
            label=task(name),
            detail=backend if several else "",
            address=f"explore/?device={quote(found[0].device)}&backend={backend}&task={name}",
            squares=tuple(found),
        )
        for (_, name, backend), found in sorted(lines.items())
    )


def draw(lines: tuple[Line, ...], layout: Layout, label: str) -> Drawing:
    """Place squares on a grid with one column per size class."""
    occurring = {row.size_class for line in lines for row in line.squares}
    sizes = [s.label for s in SIZES.values() if not s.unknown or s.label in occurring]
    tile_width = (layout.width - layout.label_width) / len(sizes) - COLUMN_GAP
    columns = tuple(
        (layout.label_width + index * (tile_width + COLUMN_GAP), size)
        for index, size in enumerate(sizes)
    )
    step = layout.label_height + layout.square_height + layout.row_gap
    return Drawing(
        label=label,
        layout=layout,
        height=layout.head_height + len(lines) * step,
        tile_width=round(tile_width, 2),
        columns=columns,
        lines=tuple(
            _placed(line, columns, layout.head_height + number * step, layout)
            for number, line in enumerate(lines)
        ),
    )


def losses(lines: tuple[Line, ...]) -> str:
    """What the squares of a device show, and how many settings lose, in one sentence."""
    squares = [square for line in lines for square in line.squares]
    losing = sum(square.losing_cells for square in squares)
    tried = say.count(sum(square.cells for square in squares), "measured setting")
    return (
        "Each square shows its best setting, with an interval that allows for the choice;"
        f" {losing} of {tried} clearly lost speed."
    )


def measured(squares: Iterable[Row]) -> list[Row]:
    return [square for square in squares if square.speedup is not None]


def style_of(square: Row) -> str:
    """Colour only for what is clear; a figure without an interval has its side and an outline."""
    if square.speedup is None:
        return "failed"
    if square.verdict is None:
        return "gain" if square.speedup >= 1 else "loss"
    return STYLES.get(square.verdict, "flat")


def colour_strength(speedup: float) -> float:
    """How strongly a square is coloured, from 0 to 1, on a log scale."""
    return min(abs(math.log(max(speedup, 1e-9))) / math.log(FULL_COLOUR_AT), 1.0)


def _device_line(squares: list[Row]) -> Line:
    first = squares[0]
    memory = f" {first.vram_gib} GB" if first.vram_gib else ""
    label = first.device_label.removesuffix(memory)
    if len(label) > LONGEST_LABEL:
        label = f"{label[: LONGEST_LABEL - 1].rstrip()}…"
    return Line(
        label=label,
        detail=f"{memory.strip()} · {first.backend}" if memory else first.backend,
        address=device_address(first.device),
        squares=tuple(squares),
    )


def _placed(
    line: Line, columns: tuple[tuple[float, str], ...], top: float, layout: Layout
) -> Placed:
    found = {square.size_class: square for square in line.squares}
    return Placed(
        line=line,
        y=top,
        tiles=tuple(
            _tile(x, top + layout.label_height, size, line, found.get(size)) for x, size in columns
        ),
    )


def _tile(x: float, y: float, size: str, line: Line, square: Row | None) -> Tile:
    speedup = square.speedup if square else None
    class_id = next(each.id for each in SIZES.values() if each.label == size)
    narrowed = f"&size={class_id}"
    first = line.squares[0]
    task_of = f"&for={first.task}" if first.task in TASKS else ""
    return Tile(
        x=round(x, 2),
        y=y,
        size_class=size,
        address=line.address + (narrowed if "?" in line.address else ""),
        fill=f"?card={quote(first.device_label)}&model={class_id}{task_of}#mine",
        square=square,
        colour=f"{colour_strength(speedup) * 100 if speedup else 0:.0f}%",
        style=style_of(square) if square else "none",
    )
