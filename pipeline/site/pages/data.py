"""Write the page *Data and sources*: files, columns, and the sources of figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter

import duckdb
from markupsafe import Markup

from pipeline.data.aggregate import row_meaning
from pipeline.data.column_meanings import description, metrics
from pipeline.data.export import EXPORTS, SPEEDUPS_VERSION, ExportedFile
from pipeline.site.pages import launchers, strips
from pipeline.site.pages.answer_pages import CommonAnswer
from pipeline.site.pages.model import Asset, Page, Site
from pipeline.site.pages.template_environment import day, from_template, render
from pipeline.site.rows import grouped, read
from planner.presets import HEAD

FIRST = "cells"  # the tables that most readers look for


def data_page(
    connection: duckdb.DuckDBPyConnection, site: Site, files: tuple[ExportedFile, ...]
) -> Page:
    return render(
        "data.md.jinja",
        path="data.md",
        site=site,
        datasets=tuple(datasets(connection, files)),
        others=tuple(file for file in files if file.table is None),
        last=_last_day(connection),
        version=SPEEDUPS_VERSION,
        launchers=launchers.FOLDER,
        presets=launchers.PRESETS,
        head=HEAD,
        sources=read(connection, "sources"),
        measured=read(connection, "measured_so_far")[0],
    )


def programs(
    connection: duckdb.DuckDBPyConnection,
    site: Site,
    files: tuple[ExportedFile, ...],
    common: Sequence[CommonAnswer],
) -> Iterator[Asset]:
    """Files for programs: `llms.txt` and `robots.txt`."""
    groups, _ = strips.by_method(strips.rows_by_method(connection))
    yield text_file(
        "llms.txt",
        site,
        last=_last_day(connection),
        common=common,
        groups=groups,
        datasets=tuple(datasets(connection, files)),
    )
    yield text_file("robots.txt", site)


def text_file(path: str, site: Site, **values: object) -> Asset:
    """A plain text file at the site's root; links are absolute if the site's address is known."""
    text = from_template(f"{path}.jinja", site=site, **values)
    return Asset(path=path, data=Markup(text).unescape().encode())  # noqa: S704 - plain text, no HTML


def _last_day(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The last day of measurement; `None` if nothing was measured."""
    found = connection.table("submission").aggregate("max(measured_until)").fetchall()[0][0]
    return day(found) if found else None


def datasets(
    connection: duckdb.DuckDBPyConnection, files: tuple[ExportedFile, ...]
) -> Iterator[Mapping[str, object]]:
    """Every exported table with its files and columns, the most useful table first."""
    by_table = grouped(_whole(files), attrgetter("table"))
    listed_in: dict[tuple[str, str], str] = {}
    for name in sorted(EXPORTS, key=lambda name: name != FIRST):
        table = EXPORTS[name]
        shown = connection.table(table)
        columns = [
            _column(name, str(kind), table)
            for name, kind in zip(shown.columns, shown.types, strict=True)
        ]
        # A column is described once, under the first table that has it.
        first_in = [listed_in.setdefault((x["name"], x["meaning"]), name) for x in columns]
        yield {
            "name": name,
            "row": row_meaning(table),
            "rows": by_table[table][0].rows,
            "files": by_table[table],
            "columns": [x for x, at in zip(columns, first_in, strict=True) if at == name],
            "others": grouped(
                [pair for pair in zip(first_in, columns, strict=True) if pair[0] != name],
                itemgetter(0),
            ),
        }


def _whole(files: Iterable[ExportedFile]) -> list[ExportedFile]:
    """The files that have a whole table or list its parts."""
    return [file for file in files if file.table and file.role != "part"]


def _column(name: str, kind: str, table: str) -> Mapping[str, str]:
    known = metrics().get(name)
    return {
        "name": name,
        "kind": kind.lower() if len(kind) < len("struct") * 3 else "nested",
        "meaning": description(name, table).replace("`", ""),
        "unit": known.unit if known else "",
    }
