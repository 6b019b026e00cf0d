"""Turn a folder of results into a database: discover, validate, load, aggregate."""

import tomllib
from dataclasses import replace
from pathlib import Path

import duckdb
import orjson

from estimates.flags import in_order
from estimates.model import Flag
from estimates.summary import summarize
from pipeline.collection.discover import discover
from pipeline.collection.lifecycle import collection_findings
from pipeline.collection.plausibility import flags_within
from pipeline.collection.validate import Accepted, AcceptedText, Validated, validate
from pipeline.data.aggregate import aggregate
from pipeline.data.load import Entry, TextEntry, load
from pipeline.errors import RejectedError
from schemas.validator import SOURCES_SCHEMA, schema_findings


def open_database(results: Path, extra: tuple[Path, ...] = ()) -> duckdb.DuckDBPyConnection:
    """A database in memory with every table of `pipeline/data/sql`, all checks passed.

    `extra` files or folders are shown as local previews. Raises `RejectedError` with all findings
    when any file is rejected, and `MissingFileError` for an extra path that does not exist.
    """
    files = validate(discover(results, extra))
    found = files.findings or collection_findings(files)
    if found:
        raise RejectedError(found)
    flags = _corpus_flags(files)
    connection = load(
        (_entry(*each) for each in zip(files.submissions, flags, strict=True)),
        map(_text_entry, files.published),
        map(_text_entry, files.lifecycle),
        _sources(results / "sources.toml"),
    )
    aggregate(connection)
    return connection


def _corpus_flags(files: Validated) -> list[tuple[Flag, ...]]:
    """The flags that each submission gets from the others that count.

    A correction has the trials of what it replaces: neither of the two is a copy.
    """
    members = files.submissions
    ended = {entry.source.path.name for entry in files.lifecycle}
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
    by_path = {each.source.path: raised for each, raised in zip(counting, flags, strict=True)}
    return [by_path.get(each.source.path, ()) for each in members]


def _sources(path: Path) -> str | None:
    """The table of sources as JSON; `None` where a collection has none."""
    if not path.is_file():
        return None
    document = tomllib.loads(path.read_text("utf-8"))
    if found := schema_findings(document, SOURCES_SCHEMA):
        raise RejectedError({str(path): found})
    return orjson.dumps(document).decode()


def _text_entry(accepted: AcceptedText) -> TextEntry:
    return TextEntry(file=accepted.source.path.name, text=accepted.text)


def _entry(accepted: Accepted, corpus_flags: tuple[Flag, ...]) -> Entry:
    """What is loaded of a submission with the flags that only a corpus can raise."""
    summary = summarize(accepted.submission)
    preview = accepted.source.place == "preview"
    return Entry(
        id=f"preview-{accepted.digest}" if preview else accepted.source.path.stem,
        file=accepted.source.path.name,
        preview=preview,
        text=accepted.text,
        submission=accepted.submission,
        summary=replace(summary, flags=in_order((*summary.flags, *corpus_flags))),
    )
