"""Draw a chart: query, picture, specification, static SVG, table and words, as `charts.toml` says.

`draw(connection, "tasks", tier="measured")` binds the parameters into `sql/tasks.sql`.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import msgspec
import orjson
import polars as pl
import vl_convert
from polars import selectors as cs

from pipeline.collection.corpus import code_digest
from pipeline.site.charts import captions, pictures
from pipeline.site.charts.theme import CONFIGS, STATIC_WIDTH_PX, Row, Scheme
from pipeline.site.rows import frame
from schemas import vocabulary
from schemas.vocabulary import say

Value: TypeAlias = "str | float | int | bool | None"

SIGNIFICANT_DIGITS = 4
# A picture is an image on the page: what its marks say to a screen reader is in the table.
SPOKEN = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The figures behind a chart: column headings and rows, for `<table>` and CSV."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart in every form that a page needs.

    `spec` is Vega-Lite with `width: "container"`, to be themed by the page. `svg` and `svg_dark`
    are static, of fixed size, on a transparent ground, for a light and a dark page. `takeaway` is
    one sentence about what the figures say; `alt` says what is drawn. An `empty` chart has no
    rows: show its takeaway instead of a picture.
    """

    name: str
    title: str
    spec: dict[str, Any]  # Vega-Lite is JSON of any shape
    svg: str
    svg_dark: str
    table: Table
    takeaway: str
    alt: str
    empty: bool = False

    @property
    def size(self) -> tuple[str, str]:
        """Width and height of the static picture, so that a page keeps its place free."""
        found = SIZE.search(self.svg)
        return (found[1], found[2]) if found else ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One entry of `charts.toml`: `columns` maps result columns to headings.

    `unseen` are columns for the caption alone; without `caption`, a function of the chart's name in
    `captions` says what the figures say. `query` is the SQL file, where charts share one.
    """

    title: str
    parameters: Mapping[str, str]
    picture: str
    columns: Mapping[str, str]
    alt: str
    counts: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    foreign: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    caption: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What takes time to draw: the specification and its two pictures."""

    spec: dict[str, Any]
    svg: str
    svg_dark: str


_MEMORY: ContextVar[tuple[Path, set[Path]] | None] = ContextVar("charts", default=None)


@cache
def definitions() -> Mapping[str, Definition]:
    """Every chart by its name."""
    file = resources.files("pipeline.site") / "charts.toml"
    document = tomllib.loads(file.read_text("utf-8"))
    found = {}
    for name, entry in document["chart"].items():
        headings = document["headings"] | entry.pop("headings", {})
        columns = {column: headings[column] for column in entry.pop("columns")}
        found[name] = Definition(columns=columns, **entry)
    return found


def draw(connection: duckdb.DuckDBPyConnection, name: str, **parameters: str) -> Chart:
    """The chart of this name. Raises `KeyError` for an unknown name or parameter."""
    definition = definitions()[name]
    unknown = set(parameters) - set(definition.parameters)
    if unknown:
        raise KeyError(*sorted(unknown))
    rows = plain(
        frame(connection, definition.query or name, **{**definition.parameters, **parameters})
    )
    if not rows:
        return _empty(name, definition)
    drawn = _drawn(definition, rows)
    return Chart(
        name=name,
        title=definition.title,
        spec=drawn.spec,
        svg=drawn.svg,
        svg_dark=drawn.svg_dark,
        table=Table(
            columns=tuple(definition.columns.values()),
            rows=tuple(tuple(rounded(row[key]) for key in definition.columns) for row in rows),
        ),
        takeaway=definition.caption or captions.CAPTIONS[name](rows),
        alt=_alt(definition, rows),
    )


@contextmanager
def remembered(folder: Path | None) -> Iterator[None]:
    """Draw nothing again that an earlier build drew of the same rows by the same code.

    Pictures that this build did not ask for are removed. Without a folder everything is drawn.
    """
    used: set[Path] = set()
    token = _MEMORY.set(None if folder is None else (folder, used))
    try:
        yield
    finally:
        _MEMORY.reset(token)
    for path in set(folder.glob("*")) - used if folder else ():
        path.unlink()


def _drawn(definition: Definition, rows: list[Row]) -> Drawn:
    if (memory := _MEMORY.get()) is None:
        return _draw(definition, rows)
    folder, used = memory
    content = orjson.dumps([_version(), definition, rows], option=orjson.OPT_NON_STR_KEYS)
    path = folder / hashlib.sha256(content).hexdigest()[:32]
    used.add(path)
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=Drawn)
    drawn = _draw(definition, rows)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(drawn))
    return drawn


def _draw(definition: Definition, rows: list[Row]) -> Drawn:
    spec = _spec(definition, rows)
    return Drawn(spec=spec, svg=_svg(spec, "light"), svg_dark=_svg(spec, "dark"))


@cache
def _version() -> str:
    """One digest of the code and the libraries that draw."""
    libraries = [metadata.version(name) for name in ("altair", "vl-convert-python")]
    folders = (Path(__file__).parent, Path(vocabulary.__file__).parent)
    return code_digest(folders) + " ".join(libraries)


def plain(found: pl.DataFrame) -> list[Row]:
    """Rows as a chart works with them: figures finite or absent, dates and lists as text."""
    figures = cs.float()
    return found.with_columns(
        pl.when(figures.is_finite()).then(figures),
        cs.temporal().cast(pl.String),
    ).to_dicts()


def rounded(value: Any) -> Any:  # noqa: ANN401 - a specification is JSON of any shape
    """A specification with four significant digits, for a file that a page loads.

    Only the last step rounds: words made from a rounded figure would differ from the page's tables.
    """
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else value


def _spec(definition: Definition, rows: list[Row]) -> dict[str, Any]:
    """Vega-Lite as wide as its place; the page adds the colours of its scheme as `config`."""
    seen = [{key: row[key] for key in row if key not in definition.unseen} for row in rows]
    drawn = pictures.PICTURES[definition.picture](seen, definition.columns, **definition.options)
    spec: dict[str, Any] = drawn.properties(
        width="container", autosize={"type": "fit-x", "contains": "padding"}
    ).to_dict()
    spec.pop("config", None)
    return {key: rounded(value) for key, value in spec.items()}


def _svg(spec: dict[str, Any], scheme: Scheme) -> str:
    static = orjson.dumps({**spec, "width": STATIC_WIDTH_PX, "config": CONFIGS[scheme]})
    return SPOKEN.sub("", vl_convert.vegalite_to_svg(static.decode()))


def _alt(definition: Definition, rows: list[Row]) -> str:
    text = definition.alt
    for noun, column in definition.counts.items():
        number = len({row[column] for row in rows}) if column else len(rows)
        text = text.replace(f"{{{noun}s}}", say.count(number, noun))
    return text


def _empty(name: str, definition: Definition) -> Chart:
    return Chart(
        name=name,
        title=definition.title,
        spec={},
        svg="",
        svg_dark="",
        table=Table(columns=tuple(definition.columns.values()), rows=()),
        takeaway="Nothing has been measured here yet.",
        alt=f"{definition.title}: no data yet.",
        empty=True,
    )
