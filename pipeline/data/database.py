"""Turn a folder of results into a database: discover, validate, load, aggregate."""

import logging
import tomllib
from dataclasses import replace
from pathlib import Path

import duckdb
import orjson

from estimates.flags import in_order
from estimates.model import Flag
from estimates.summary import summarize
from estimates.verdicts import doubted
from pipeline.collection.discover import discover
from pipeline.collection.lifecycle import ended_contributors, without_contradictions
from pipeline.collection.plausibility import flags_within
from pipeline.collection.validate import DUPLICATE, Accepted, AcceptedText, Validated, validate
from pipeline.data.aggregate import aggregate
from pipeline.data.load import Entry, TextEntry, load
from pipeline.errors import RejectedError
from schemas.validator import SOURCES_SCHEMA, schema_findings

_LOG = logging.getLogger(__name__)


def open_database(results: Path, extra: tuple[Path, ...] = ()) -> duckdb.DuckDBPyConnection:
    """A database in memory with every table of `pipeline/data/sql`, all checks passed.

    `extra` files or folders are shown as local previews. Raises `RejectedError` with all findings
    when any file is invalid, and `MissingFileError` for an extra path that does not exist.
    """
    files = _compatible(validate(discover(results, extra)))
    flags = _corpus_flags(files)
    connection = load(
        (_entry(*each) for each in zip(files.submissions, flags, strict=True)),
        map(_text_entry, files.published),
        map(_text_entry, files.lifecycle),
        _sources(results / "sources.toml"),
    )
    aggregate(connection)
    return connection


def _compatible(files: Validated) -> Validated:
    """The files that can stand together; each of the others is logged and left out.

    Two pull requests that pass the gate one by one may contradict each other once both are merged.
    That must not stop the build of everybody else's results. Anything else that is wrong does.
    """
    wrong = {
        file: found
        for file, found in files.findings.items()
        if any(each.rule != DUPLICATE for each in found)
    }
    if wrong:
        raise RejectedError(wrong)
    compatible, left_out = without_contradictions(files)
    for file, found in (files.findings | left_out).items():
        for each in found:
            _LOG.warning("left out: %s", each.line(file))
    return compatible


def _corpus_flags(files: Validated) -> list[tuple[Flag, ...]]:
    """The flags that each submission gets from the others that count.

    A correction has the trials of what it replaces: neither of the two is a copy.
    """
    members = files.submissions
    ended = {entry.source.path.name for entry in files.lifecycle}
    banned = ended_contributors((each.source.path.name, each.text) for each in files.lifecycle)
    ended |= {
        each.submission.supersedes
        for each in members
        if each.source.place == "corpus" and each.submission.supersedes
    }
    ended |= {
        each.source.path.name
        for each in members
        if (each.submission.contributor or "").lower() in banned
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
    arms = accepted.submission.arms
    flags = in_order((*summary.flags, *corpus_flags))
    preview = accepted.source.place == "preview"
    return Entry(
        id=f"preview-{accepted.digest}" if preview else accepted.source.path.stem,
        file=accepted.source.path.name,
        preview=preview,
        text=accepted.text,
        submission=accepted.submission,
        summary=replace(summary, flags=flags, estimates=doubted(summary.estimates, flags, arms)),
    )
