"""Write the section Proofs: how the harness is checked, with the benches' figures and commands.

The benches write `bench/figures/*.json`, and `proofs.toml` selects the values to show. Benches
without a file are left out, because they have not been run.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from schemas.vocabulary import documents, say

FORMATS: dict[str, Callable[[float], str]] = {
    "count": lambda value: say.number(value, 0),
    "number": say.number,
    "exact": lambda value: say.number(value, 3),
    "percent": say.percent,
    "percent1": lambda value: say.percent(value, 1),
    "signed": lambda value: say.percent(value, 1, signed=True).replace("-", "\N{MINUS SIGN}"),
    "ratio": say.times,
    "yes": lambda value: "yes" if value else "no",
}
WORDS = ("text", "yes")  # kinds of columns that contain words instead of figures


def proofs(folder: Path) -> Iterator[Mapping[str, object]]:
    """Yield each proof whose file has rows, in the order of `proofs.toml`, with values as text."""
    listed = documents.document("proofs", "pipeline.site.pages")
    names = listed["words"]
    for entry in listed["proof"]:
        path = folder / entry["file"]
        if not path.exists():
            continue
        document = json.loads(path.read_text("utf-8"))
        rows = tuple(
            tuple(_printed(row.get(key), kind, names) for key, _, kind in entry["columns"])
            for row in _rows(document, entry.get("rows"), entry.get("only", {}))
        )
        if rows:
            yield {
                **entry,
                "command": document.get("command", entry["command"]),
                "date": document.get("date"),
                "columns": [(heading, kind not in WORDS) for _, heading, kind in entry["columns"]],
                "rows": rows,
            }


def _rows(
    document: dict[str, object], name: str | None, only: dict[str, list[object]]
) -> Iterator[dict[str, object]]:
    """The rows in a bench's document: its list or table `name`, or the document as a single row."""
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
