"""Write the page *Data and sources*: files, columns, the data set as JSON-LD, the sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

import duckdb
import orjson
from markupsafe import Markup

from pipeline.data.aggregate import row_meaning
from pipeline.data.column_meanings import description, metrics
from pipeline.data.export import (
    EXPORTS,
    MEDIA_TYPES,
    SPEEDUPS,
    SPEEDUPS_VERSION,
    SUMS,
    ExportedFile,
)
from pipeline.site.pages import launchers, strips
from pipeline.site.pages.answer_pages import CommonAnswer
from pipeline.site.pages.model import Asset, Page, Site, device_address, device_file
from pipeline.site.pages.template_environment import day, from_template, render
from pipeline.site.rows import grouped, read
from schemas.vocabulary.documents import document

FIRST = "cells"  # the tables that most readers look for
UNITS = {"_tps": " tokens/s", "_gb_s": "", "_gb": "", "_mib": "", "_usd": "", "_c": ""}
WORDS = {"vram": "GPU memory", "gpu": "GPU", "kv": "KV", "min": "least", "max": "most"}
TITLE = "Draftmap: the open map of where speculative decoding makes a local language model faster"


def data_page(
    connection: duckdb.DuckDBPyConnection, site: Site, files: tuple[ExportedFile, ...]
) -> Page:
    first, last = _days(connection)
    return render(
        "data.md.jinja",
        path="data.md",
        site=site,
        datasets=tuple(datasets(connection, files)),
        others=tuple(file for file in files if file.table is None),
        structured=dataset(files, site, first=first, last=last),
        last=last,
        version=SPEEDUPS_VERSION,
        example=example(connection),
        launchers=launchers.FOLDER,
        **sections(connection),
    )


def sections(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Any]:
    """Template values: all sources, and those of their rows that are on no device's page."""
    figures = read(connection, "published_figure")
    return {
        "sources": read(connection, "sources"),
        "measured": read(connection, "measured_so_far")[0],
        "rest": grouped(read(connection, "published_rest"), attrgetter("source")),
        "printed": grouped(figures, lambda each: f"{each.source}/{each.row_id}"),
        "in_words": in_words,
    }


def in_words(quantity: str) -> str:
    """A quantity's name in words, with tokens/s but no other unit."""
    if quantity == "n_max":
        return "depth"
    for suffix, unit in UNITS.items():
        if quantity.endswith(suffix):
            quantity = quantity.removesuffix(suffix) + unit
            break
    return " ".join(WORDS.get(word, word) for word in quantity.split("_"))


def programs(
    connection: duckdb.DuckDBPyConnection,
    site: Site,
    files: tuple[ExportedFile, ...],
    common: Sequence[CommonAnswer],
) -> Iterator[Asset]:
    """Files for programs: `llms.txt`, `robots.txt`, and a file for each device."""
    _, last = _days(connection)
    groups, _ = strips.by_method(strips.rows_by_method(connection))
    yield text_file(
        "llms.txt",
        site,
        last=last,
        common=common,
        groups=groups,
        datasets=tuple(datasets(connection, files)),
        example=example(connection),
    )
    yield text_file("robots.txt", site)
    yield from device_files(connection)


def example(connection: duckdb.DuckDBPyConnection) -> tuple[str, str, str] | None:
    """An example device, the one with most rows: its name, its label and its file's address."""
    listed = connection.table("speedup").select("device", "device_label").fetchall()
    found = grouped(listed, itemgetter(0))
    if not found:
        return None
    most = max(found, key=lambda device: len(found[device]))
    path = device_file(most)
    return path.rpartition("/")[2].removesuffix(".json"), found[most][0][1], path


def device_files(connection: duckdb.DuckDBPyConnection) -> Iterator[Asset]:
    """Yield a JSON file for each device, with the device's rows from the table `speedup`."""
    for device, rows in grouped(read(connection, "speedup"), attrgetter("device")).items():
        value = {
            "format": "draftmap-device",
            "version": SPEEDUPS_VERSION,
            "device": device,
            "device_label": rows[0].device_label,
            "page": device_address(device),
            "documentation": "data/#for-programs",
            SPEEDUPS: [row._asdict() for row in rows],
        }
        yield Asset(path=device_file(device), data=orjson.dumps(value))


def text_file(path: str, site: Site, **values: object) -> Asset:
    """A plain text file at the site's root; links are absolute if the site's address is known."""
    text = from_template(f"{path}.jinja", site=site, **values)
    return Asset(path=path, data=Markup(text).unescape().encode())  # noqa: S704 - plain text, no HTML


def _days(connection: duckdb.DuckDBPyConnection) -> tuple[str | None, str | None]:
    """The first and the last day of measurement; `None` for both if nothing was measured."""
    found = connection.table("submission").aggregate("min(measured_from), max(measured_until)")
    first, last = found.fetchall()[0]
    return (day(first), day(last)) if first and last else (None, None)


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


def dataset(
    files: Sequence[ExportedFile], site: Site, *, first: str | None, last: str | None
) -> dict[str, Any]:
    """The data set in JSON-LD; `first` and `last` are the first and the last day of measurement."""
    value = document("dataset", "pipeline.site") | {
        # The digest of all digests identifies exactly these files, at any address.
        "identifier": [f"sha256:{file.sha256}" for file in files if file.name == SUMS],
        "citation": citation(site, last),
        "distribution": [_download(file, site) for file in _whole(files)],
    }
    if first and last:
        value |= {"temporalCoverage": f"{first}/{last}", "dateModified": last, "version": last}
    if site.address:
        value |= {"url": f"{site.address}data/"}
    return value


def citation(site: Site, last: str | None) -> str:
    """The citation of the collection, in one line."""
    dated = f" ({last[:4]})" if last else ""
    until = f" Data as of {last}," if last else ""
    address = f" {site.address}" if site.address else ""
    return f"Draftmap contributors{dated}. {TITLE}.{until} CC BY 4.0.{address}"


def _download(file: ExportedFile, site: Site) -> dict[str, Any]:
    suffix = file.name.rpartition(".")[2]
    # Without the site's address, a path relative to the page of the data, which is in data/.
    base = f"{site.address}data/" if site.address else ""
    return {
        "@type": "DataDownload",
        "name": file.name,
        "contentUrl": f"{base}{file.name}",
        "encodingFormat": MEDIA_TYPES[suffix],
        "contentSize": f"{file.bytes} B",
    }
