"""The page Proofs: how the harness is checked, with figures of the benches and their commands.

The benches write `bench/figures/*.json`, and `proofs.toml` says what of it is shown. A file
that is not there has no section: the page shows what was run, never what should be.
"""

import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pipeline.site.pages.environment import render
from pipeline.site.pages.model import Page, Site
from schemas.vocabulary import say

FORMATS: dict[str, Callable[[float], str]] = {
    "count": lambda value: say.number(value, 0),
    "number": say.number,
    "percent": say.percent,
    "percent1": lambda value: say.percent(value, 1),
    "signed": lambda value: say.percent(value, 1, signed=True).replace("-", "\N{MINUS SIGN}"),
    "ratio": say.times,
    "yes": lambda value: "yes" if value else "no",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a proof's table."""

    key: str
    heading: str
    words: str

    @property
    def numeric(self) -> bool:
        return self.words not in {"text", "yes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One question, its figures as they are printed, and how to get them again."""

    title: str
    says: str
    command: str
    file: str
    date: str | None
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def proofs_page(site: Site, folder: Path) -> Page:
    """The page Proofs from the files in `folder`."""
    return render("proofs.md.jinja", path="proofs.md", site=site, proofs=tuple(proofs(folder)))


def proofs(folder: Path) -> Iterator[Proof]:
    """Every proof whose file is there and has rows, in the order of `proofs.toml`."""
    words = (resources.files("pipeline.site") / "pages" / "proofs.toml").read_text("utf-8")
    listed = tomllib.loads(words)
    names = listed["words"]
    for entry in listed["proof"]:
        path = folder / entry["file"]
        if not path.exists():
            continue
        document = json.loads(path.read_text("utf-8"))
        columns = tuple(Column(key=k, heading=h, words=w) for k, h, w in entry["columns"])
        rows = tuple(
            tuple(_printed(row.get(column.key), column.words, names) for column in columns)
            for row in _rows(document, entry.get("rows"), entry.get("only", {}))
        )
        if rows:
            yield Proof(
                title=entry["title"],
                says=entry["says"],
                command=document.get("command", entry["command"]),
                file=entry["file"],
                date=document.get("date"),
                columns=columns,
                rows=rows,
                note=entry.get("note", ""),
            )


def _rows(
    document: dict[str, object], name: str | None, only: dict[str, list[object]]
) -> Iterator[dict[str, object]]:
    """The rows of a document: a list, a table by name, or the document itself."""
    found = document if name is None else document.get(name, [])
    if name is None:
        yield document
    elif isinstance(found, dict):
        yield from ({"name": key, **row} for key, row in sorted(found.items()))
    elif isinstance(found, list):
        yield from (
            row for row in found if all(row.get(key) in chosen for key, chosen in only.items())
        )


def _printed(value: object, words: str, names: dict[str, str]) -> str:
    if words == "text":
        return say.UNKNOWN if value is None else names.get(str(value), str(value))
    return FORMATS[words](value) if isinstance(value, int | float) else say.UNKNOWN
