"""Check lifecycle entries: they name an existing result, or a contributor.

A result is never edited or removed. Instead, maintainers may add an entry about it, or about its
contributor, to `results/lifecycle/`.
"""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import orjson

from pipeline.collection.validation import contributor_of
from schemas.finding import ROOT, Finding


def misnamed_entries(entries: Iterable[str], results: Collection[str]) -> Iterator[Finding]:
    """Findings on lifecycle entries that name neither a contributor nor an existing result."""
    message = "there is no result with this name in results/community/; rename the entry"
    for path in entries:
        if Path(path).name not in results and contributor_of(Path(path).name) is None:
            yield Finding(file=path, path=ROOT, message=message, rule="lifecycle-name")


def contributors(entries: Iterable[tuple[str, str | bytes]], *, known: bool) -> dict[str, str]:
    """The contributors whom lifecycle entries mark as `known`, or else exclude, with the reasons.

    `entries` are names and texts of lifecycle files.
    """
    found = ((contributor_of(name), orjson.loads(text)) for name, text in entries)
    return {n: each["reason"] for n, each in found if n and (each["status"] == "known") is known}
