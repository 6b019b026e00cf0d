"""Ten thousand files from one thousand: the facts of a built corpus, each under further names.

A copy has another contributor, another name and other times, and two of three copies another
quantisation, so that cells and votes grow as they would. Its raw file is one line: the next build
finds its facts in the cache and reads nothing else of it. What facts cost for one file is measured
without copies; this shows what the tables, pages and data of very many files cost.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from estimates.identity import identify
from pipeline.collection.discover import Source
from pipeline.data.facts import About, key_of, version

if TYPE_CHECKING:
    from pathlib import Path

VARIANTS = ("", "-b", "-c")


def multiply(results: Path, cache: Path, copies: int) -> int:
    """Add so many copies of every file in the cache; returns how many files there are then."""
    place = cache / version()
    parts = sorted(place.glob("*.parquet"))
    for path in parts:
        table = pq.read_table(path)
        for number in range(1, copies + 1):
            made = _copy(table, number, results / "community")
            pq.write_table(made, place / f"{path.stem}-{number}.parquet", compression="zstd")
    return sum(pq.read_metadata(path).num_rows for path in place.glob("*.parquet"))


def _copy(table: pa.Table, number: int, folder: Path) -> pa.Table:
    variant = VARIANTS[number % len(VARIANTS)]
    about = [_about(text, number, variant) for text in table["about"].to_pylist()]
    stems = [f"{name[:-8]}{_short(f'{name} {number}')}" for name in table["submission"].to_pylist()]
    order = np.argsort(np.array(stems))
    columns: dict[str, Any] = {
        "submission": stems,
        "file": [f"{stem}.json" for stem in stems],
        "key": [_written(folder / f"{stem}.json") for stem in stems],
        "about": [msgspec.json.encode(each) for each in about],
        "identity": [msgspec.to_builtins(each.identity) for each in about],
    }
    for name, values in columns.items():
        table = _with(table, name, pa.array(values, table.schema.field(name).type))
    document = table["document"].combine_chunks()
    document = _part(document, "contributor", [each.outline.contributor for each in about])
    target = document.field("target")
    quantisation = [each.outline.target.quantisation for each in about]
    document = _part(document, "target", _part(target, "quantisation", quantisation))
    table = _with(table, "document", document)
    for name in ("times", "ratios"):
        lists = table[name].combine_chunks()
        other = lists.values.to_numpy() ^ np.uint32(number * 2**20)
        table = _with(table, name, pa.ListArray.from_arrays(lists.offsets, pa.array(other)))
    return table.take(pa.array(order))


def _about(text: bytes, number: int, variant: str) -> About:
    about = msgspec.json.decode(text, type=About)
    outline = about.outline
    target = replace(outline.target, quantisation=f"{outline.target.quantisation}{variant}")
    name = f"{outline.contributor or 'nobody'}-{number}"
    outline = replace(outline, contributor=name, target=target)
    digest = _short(f"{about.digest} {number}")
    return replace(about, digest=digest, outline=outline, identity=identify(outline))


def _written(path: Path) -> str:
    path.write_text(f"{path.stem}\n", encoding="utf-8")
    return key_of(Source(path=path, kind="submission", place="corpus"))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


def _part(struct: pa.StructArray, name: str, values: Any) -> pa.StructArray:  # noqa: ANN401 - of any type
    fields = list(struct.type)
    parts = [struct.field(at) for at in range(len(fields))]
    at = struct.type.get_field_index(name)
    parts[at] = pa.array(values, fields[at].type) if isinstance(values, list) else values
    return pa.StructArray.from_arrays(parts, fields=fields)
