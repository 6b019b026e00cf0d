"""How does a folder of results become a database to ask? Discover, validate, load, aggregate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb

from estimates.flags import in_order
from estimates.model import Flag
from estimates.summary import summarize
from pipeline.collection.discover import discover
from pipeline.collection.lifecycle import collection_findings
from pipeline.collection.plausibility import flags_within
from pipeline.collection.validate import Accepted, Verdict, validate
from pipeline.data.aggregate import aggregate
from pipeline.data.load import Entry, LifecycleEntry, PublishedEntry, load
from pipeline.errors import RejectedError


def open_database(results: Path, extra: tuple[Path, ...] = ()) -> duckdb.DuckDBPyConnection:
    """A database in memory with every table of `pipeline/data/sql`, all checks passed.

    `extra` files or folders are shown as local previews. Raises `RejectedError` with all findings
    when any file is rejected, and `MissingFileError` for an extra path that does not exist.
    """
    verdict = validate(discover(results, extra))
    found = verdict.findings or collection_findings(verdict)
    if found:
        raise RejectedError(found)
    beside = _flags_beside(verdict)
    connection = load(
        (_entry(*each) for each in zip(verdict.submissions, beside, strict=True)),
        (
            PublishedEntry(file=accepted.source.path.name, text=accepted.text)
            for accepted in verdict.published
        ),
        (
            LifecycleEntry(file=accepted.source.path.name, text=accepted.text)
            for accepted in verdict.lifecycle
        ),
    )
    aggregate(connection)
    return connection


def _flags_beside(verdict: Verdict) -> list[tuple[Flag, ...]]:
    """What each submission looks like beside the others that count.

    A correction has the trials of what it replaces: neither of the two is a copy.
    """
    members = verdict.submissions
    ended = {entry.source.path.name for entry in verdict.lifecycle}
    ended |= {
        each.submission.supersedes
        for each in members
        if each.source.place == "corpus" and each.submission.supersedes
    }
    counting = [
        each
        for each in members
        if each.source.place == "preview" or each.source.path.name not in ended
    ]
    flags = flags_within([each.submission for each in counting])
    told = {each.source.path: raised for each, raised in zip(counting, flags, strict=True)}
    return [told.get(each.source.path, ()) for each in members]


def _entry(accepted: Accepted, beside: tuple[Flag, ...]) -> Entry:
    """What is loaded of a submission; `beside` are the flags that only a corpus can raise."""
    summary = summarize(accepted.submission)
    preview = accepted.source.place == "preview"
    return Entry(
        id=f"preview-{accepted.digest}" if preview else accepted.source.path.stem,
        file=accepted.source.path.name,
        preview=preview,
        submission=accepted.submission,
        summary=replace(summary, flags=in_order((*summary.flags, *beside))),
    )
