"""Turn a folder of results into a database: discover, validate, load, aggregate."""

import logging
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import orjson

from estimates.flags import in_order
from estimates.model import Flag, Summary
from estimates.verdicts import after_flags
from pipeline.collection.discover import Source, discover
from pipeline.collection.lifecycle import ended_contributors, without_contradictions
from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.collection.validate import (
    DUPLICATE,
    Accepted,
    AcceptedText,
    Found,
    Validated,
    checked,
    gathered,
)
from pipeline.data.aggregate import aggregate
from pipeline.data.facts import Fact, gather, prune, summaries
from pipeline.data.load import Stored, TextEntry, load
from pipeline.errors import RejectedError
from schemas.authority import schema_findings
from schemas.finding import in_file
from schemas.validator import SOURCES_SCHEMA

_LOG = logging.getLogger(__name__)


def open_database(
    results: Path, extra: tuple[Path, ...] = (), *, cache: Path | None = None, jobs: int = 1
) -> duckdb.DuckDBPyConnection:
    """A database in memory with every table of `pipeline/data/sql`, all checks passed.

    `extra` files or folders are shown as local previews. `cache` is a folder with what earlier
    builds derived from single files; the tables are the same without it. Raises `RejectedError`
    with all findings when any file is invalid, and `MissingFileError` for an extra path that does
    not exist.
    """
    with TemporaryDirectory() as folder:
        connection = _loaded(results, extra, cache or Path(folder), jobs)
        aggregate(connection)
        connection.execute("drop view trials_document")  # its files may be gone from here on
    return connection


def _loaded(
    results: Path, extra: tuple[Path, ...], cache: Path, jobs: int
) -> duckdb.DuckDBPyConnection:
    """The documents in a database; what was known of each file is not needed any more."""
    facts, files = _gathered(cache, discover(results, extra), jobs)
    prune(cache)
    return load(
        _stored(facts, files),
        map(_text_entry, files.published),
        map(_text_entry, files.lifecycle),
        _sources(results / "sources.toml"),
    )


def _gathered(
    folder: Path, sources: tuple[Source, ...], jobs: int
) -> tuple[Mapping[Source, Fact], Validated]:
    """What is known of each submission, and the files that can stand together."""
    facts, refused = gather(folder, [s for s in sources if s.kind == "submission"], jobs=jobs)

    def result(source: Source) -> Accepted | AcceptedText | Found:
        if source.kind != "submission":
            return checked(source)
        return facts[source].accepted if source in facts else refused.get(source, ())

    return facts, _compatible(gathered((source, result(source)) for source in sources))


def _stored(facts: Mapping[Source, Fact], files: Validated) -> Stored:
    """Where the submissions lie, and what changes of them for flags that the corpus raises."""
    members = [facts[each.source] for each in files.submissions]
    raised = {
        fact.key: flags
        for fact, flags in zip(members, _corpus_flags(members, files), strict=True)
        if flags
    }
    changed: dict[str, Summary] = {}
    for fact, summary in summaries(each for each in members if each.key in raised):
        flags = in_order((*summary.flags, *raised[fact.key]))
        arms = fact.accepted.submission.arms
        estimates = after_flags(summary.estimates, flags, arms)
        changed[fact.key] = replace(summary, flags=flags, estimates=estimates)
    return Stored(files={each.key: each.path for each in members}, changed=changed)


def _compatible(files: Validated) -> Validated:
    """The files that can stand together; each of the others is logged and left out.

    Two pull requests that pass the gate one by one may contradict each other once both are merged.
    That must not stop the build of everybody else's results. Anything else that is wrong does.
    """
    if wrong := [each for each in files.findings if each.rule != DUPLICATE]:
        raise RejectedError(wrong)
    compatible, left_out = without_contradictions(files)
    for each in (*files.findings, *left_out):
        _LOG.warning("left out: %s", each.line())
    return compatible


def _corpus_flags(members: Sequence[Fact], files: Validated) -> list[tuple[Flag, ...]]:
    """The flags that each submission gets from the others that count.

    A correction has the trials of what it replaces: neither of the two is a copy.
    """
    ended = {entry.source.path.name for entry in files.lifecycle}
    banned = ended_contributors((each.source.path.name, each.text) for each in files.lifecycle)
    ended |= {
        each.submission.supersedes
        for each in files.submissions
        if each.source.place == "corpus" and each.submission.supersedes
    }
    ended |= {
        each.source.path.name
        for each in files.submissions
        if (each.submission.contributor or "").lower() in banned
    }
    counting = [
        each
        for each in members
        if each.accepted.source.place == "preview" or each.accepted.source.path.name not in ended
    ]
    flags = flags_within(Corpus(tuple(each.member for each in counting)))
    by_key = {each.key: raised for each, raised in zip(counting, flags, strict=True)}
    return [by_key.get(each.key, ()) for each in members]


def _sources(path: Path) -> str | None:
    """The table of sources as JSON; `None` where a collection has none."""
    if not path.is_file():
        return None
    document = tomllib.loads(path.read_text("utf-8"))
    if found := schema_findings(document, SOURCES_SCHEMA):
        raise RejectedError(in_file(found, str(path)))
    return orjson.dumps(document).decode()


def _text_entry(accepted: AcceptedText) -> TextEntry:
    return TextEntry(file=accepted.source.path.name, text=accepted.text)
