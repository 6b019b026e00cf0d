"""Where does everything go on the map? Devices down, model sizes across, one drawing per choice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.site.pages.cells import MethodSquare, Square
from schemas.vocabulary import SIZES, TASKS

ALL = "all"
REACH = 2.5  # colours are full at 2.5 times faster or slower
COLUMN_GAP = 4
LONGEST_LABEL = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The measures of one drawing: wide has labels beside the squares, narrow above them."""

    name: str
    width: int
    label_width: int
    label_height: int
    square_height: int
    row_gap: int
    head_height: int = 26


WIDE = Layout(name="wide", width=1000, label_width=232, label_height=0, square_height=52, row_gap=4)
NARROW = Layout(
    name="narrow", width=340, label_width=0, label_height=22, square_height=42, row_gap=8
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One square on the drawing; `square` is `None` where nothing has been measured."""

    x: float
    y: float
    size_class: str
    square: Square | None
    tint: str
    sign: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One device through one backend."""

    label: str
    detail: str
    address: str
    y: float
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A map, ready to be printed by the template."""

    layout: Layout
    height: float
    tile_width: float
    columns: tuple[tuple[float, str], ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What can be chosen on the map, and what is in it."""

    task: str
    method: str
    label: str  # what the method is called
    squares: tuple[Square, ...]

    @property
    def key(self) -> str:
        return f"{self.task}--{self.method}"


def choices(best: Iterable[Square], by_method: Iterable[MethodSquare]) -> Iterator[Choice]:
    """Every task with the best of all methods, and with each method that was measured."""
    overall = tuple(best)
    single = tuple(by_method)
    labels = {square.method: square.method_label or square.method for square in single}
    found = {square.task for square in overall}
    for task in (task for task in (ALL, *TASKS) if task in found):
        kept = tuple(square for square in overall if square.task == task)
        yield Choice(task=task, method=ALL, label="Best of all", squares=kept)
        for method in sorted(labels):
            own = (s for s in single if (s.task, s.method) == (task, method))
            yield Choice(task=task, method=method, label=labels[method], squares=tuple(own))


def opening(listed: tuple[Choice, ...]) -> Choice:
    """The choice that the page opens with: all tasks where they have figures, else the fullest."""
    full = [choice for choice in listed if choice.method == ALL]
    overall = next(choice for choice in full if choice.task == full[0].task)
    if overall.task == ALL and _measured(overall):
        return overall
    return max(full, key=_measured)


def draw(
    squares: tuple[Square, ...], sizes: tuple[tuple[int, str], ...], layout: Layout
) -> Drawing:
    """Place squares on a grid with one column per size class."""
    tile_width = (layout.width - layout.label_width) / len(sizes) - COLUMN_GAP
    columns = tuple(
        (layout.label_width + index * (tile_width + COLUMN_GAP), label)
        for index, (_, label) in enumerate(sizes)
    )
    step = layout.label_height + layout.square_height + layout.row_gap
    rows = tuple(
        _row(group, columns, layout.head_height + number * step, layout)
        for number, group in enumerate(_by_device(squares))
    )
    return Drawing(
        layout=layout,
        height=layout.head_height + len(rows) * step,
        tile_width=round(tile_width, 2),
        columns=columns,
        rows=rows,
    )


def sizes_of(squares: Iterable[Square]) -> tuple[tuple[int, str], ...]:
    """All size classes, smallest first: an empty column is an invitation, not a waste of room."""
    occurring = {square.size_class for square in squares}
    return tuple(
        (order, size.label)
        for order, size in enumerate(SIZES.values())
        if not size.unknown or size.label in occurring
    )


def tint(speedup: float) -> str:
    """How strongly a square is coloured, in percent, on a log scale."""
    share = min(abs(math.log(max(speedup, 1e-9))) / math.log(REACH), 1.0)
    return f"{share * 100:.0f}%"


def _by_device(squares: tuple[Square, ...]) -> list[tuple[Square, ...]]:
    """Squares by device and backend: graphics cards first, the largest memory on top."""
    keys = {
        (s.device_kind != "gpu", -(s.vram_gib or 0), s.device_label, s.backend) for s in squares
    }
    return [
        tuple(s for s in squares if (s.device_label, s.backend) == (label, backend))
        for _, _, label, backend in sorted(keys)
    ]


def _row(
    squares: tuple[Square, ...],
    columns: tuple[tuple[float, str], ...],
    top: float,
    layout: Layout,
) -> Row:
    found = {square.size_class: square for square in squares}
    first = squares[0]
    memory = f" {first.vram_gib} GB" if first.vram_gib else ""
    return Row(
        label=_shortened(first.device_label.removesuffix(memory)),
        detail=f"{memory.strip()} · {first.backend}" if memory else first.backend,
        address=first.address,
        y=top,
        tiles=tuple(
            _tile(x, top + layout.label_height, label, found.get(label)) for x, label in columns
        ),
    )


def _shortened(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1].rstrip()}…"


def _tile(x: float, y: float, size_class: str, square: Square | None) -> Tile:
    speedup = square.speedup if square else None
    return Tile(
        x=round(x, 2),
        y=y,
        size_class=size_class,
        square=square,
        tint=tint(speedup) if speedup else "0%",
        sign=_sign(square),
    )


def _sign(square: Square | None) -> str:
    if square is None:
        return "none"
    if square.speedup is None:
        return "failed"
    return "gain" if square.speedup >= 1 else "loss"


def _measured(choice: Choice) -> int:
    return sum(square.speedup is not None for square in choice.squares)
