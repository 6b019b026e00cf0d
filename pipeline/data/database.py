"""Turn a folder of results into a database: find, validate, load and aggregate its files."""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import msgspec
import orjson

from estimates.flags import in_order
from estimates.model import Flag, Summary
from estimates.verdicts import after_flags
from pipeline.cache import Cache
from pipeline.collection import validation
from pipeline.collection.discover import Source, discover
from pipeline.collection.lifecycle import contributors, misnamed_entries
from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus, CorpusEntry
from pipeline.collection.weight_names import names_of, renamed, renamed_text
from pipeline.data.aggregate import aggregate
from pipeline.data.cached import entries_of, key_of, summary_of
from pipeline.data.kept_tables import KeptTables
from pipeline.data.load import AcceptedSubmission, load
from pipeline.errors import RejectedError
from schemas.submission import Arm

_LOG = logging.getLogger(__name__)


def open_database(
    results: Path, extra: tuple[Path, ...] = (), *, cache: Cache | None = None, jobs: int = 1
) -> duckdb.DuckDBPyConnection:
    """An in-memory database with all tables of `pipeline/data/sql`, which passed all checks.

    The files in `extra` (files or folders) are added as local previews. `cache` has values that
    earlier builds computed from single files; it does not change the tables. Raises `RejectedError`
    with all findings if any file is invalid, and `MissingFileError` for an extra path that does not
    exist.
    """
    with TemporaryDirectory() as folder:
        kept = cache if cache and cache.folder else Cache(Path(folder))
        entries, files = _read(kept, discover(results, extra), jobs)
        known = frozenset(contributors(_named_texts(files), known=True))
        counting = _counting(files)
        names = names_of([entries[each].submission for each in counting], known)
        entries = {source: renamed(entry, names) for source, entry in entries.items()}
        raised = flags_within(Corpus(tuple(entries[each] for each in counting), known))
        flags = dict(zip(counting, raised, strict=True))
        keys = {_name(each): _key(each, entries, flags) for each in files.submissions}
        tables = KeptTables.find(cache, cache.folder, keys) if cache and cache.folder else None
        new = tables.missing if tables else keys
        connection = load(
            _with_flags(kept, files.submissions, entries, flags, new),
            files.published,
            files.lifecycle,
            _sources(results / "sources.toml"),
            filled=tables.fill if tables else None,
        )
    aggregate(connection)
    return connection


def _read(
    cache: Cache, sources: tuple[Source, ...], jobs: int
) -> tuple[Mapping[Source, CorpusEntry], validation.Validated]:
    """Each submission's entry for comparisons, and all accepted files that contradict no other."""
    submissions = [source for source in sources if source.kind == "submission"]
    entries = entries_of(cache, submissions, jobs=jobs)

    def result(source: Source) -> validation.Checked:
        if source not in entries:
            return _checked(cache, source)
        submission, digest = entries[source].submission, entries[source].digest or ""
        return validation.Accepted(source=source, submission=submission, digest=digest)

    return entries, _compatible(validation.combined((each, result(each)) for each in sources))


def _checked(cache: Cache, source: Source) -> validation.Checked:
    """The text of an accepted file, or all faults; a text accepted before is not checked again."""
    key = ["accepted", key_of(source)]
    if cache.get(key) is not None:
        return validation.AcceptedText(source=source, text=source.path.read_text("utf-8"))
    found = validation.checked(source)
    if isinstance(found, validation.AcceptedText):
        cache.put(key, b"")
    return found


def _name(accepted: validation.Accepted) -> str:
    source = accepted.source
    return f"preview-{accepted.digest}" if source.place == "preview" else source.path.stem


def _key(
    accepted: validation.Accepted,
    entries: Mapping[Source, CorpusEntry],
    flags: Mapping[Source, tuple[Flag, ...]],
) -> str:
    """A digest of all that decides a submission's own rows: its file, and names and flags."""
    named = entries[accepted.source].submission
    models = [(model.name, model.quantisation) for model in (named.target, *named.drafts)]
    decided = entries[accepted.source].key, models, flags.get(accepted.source, ())
    return hashlib.sha256(msgspec.json.encode(decided)).hexdigest()


def _with_flags(
    cache: Cache,
    submissions: Iterable[validation.Accepted],
    entries: Mapping[Source, CorpusEntry],
    flags: Mapping[Source, tuple[Flag, ...]],
    keys: Mapping[str, str],
) -> Iterator[AcceptedSubmission]:
    """The submissions of `keys`, with the model names and flags that depend on the whole corpus."""
    for accepted in submissions:
        source, name = accepted.source, _name(accepted)
        named = entries[source]
        if name not in keys:
            cache.keep(["summary", named.key])
            continue
        summary = summary_of(cache, source, named)
        text = validation.current_text(source.path.read_bytes())
        if named.submission != accepted.submission:
            text = renamed_text(text, named.submission)
        raised = flags.get(source, ())
        yield AcceptedSubmission(
            submission=name,
            file=source.path.name,
            preview=source.place == "preview",
            document=text,
            identity=msgspec.json.encode(named.identity),
            summary=_flagged(summary, raised, accepted.submission.arms) if raised else summary,
            key=keys[name],
        )


def _flagged(known: bytes, raised: tuple[Flag, ...], arms: tuple[Arm, ...]) -> bytes:
    """Add flags to a cached summary, and make the verdicts that they affect `uncertain`."""
    summary = msgspec.json.decode(known, type=Summary)
    flags = in_order((*summary.flags, *raised))
    estimates = after_flags(summary.estimates, flags, arms)
    return msgspec.json.encode(replace(summary, flags=flags, estimates=estimates))


def _compatible(files: validation.Validated) -> validation.Validated:
    """Leave out each file that contradicts another file, and log the contradiction.

    Two pull requests may both pass the gate and contradict each other once both are merged. Such a
    contradiction must not stop the build of all other results. Any other fault stops the build.
    """
    if faults := [each for each in files.findings if each.rule != validation.DUPLICATE]:
        raise RejectedError(faults)
    names = {each.source.path.name for each in files.submissions if each.source.place == "corpus"}
    misnamed = [*misnamed_entries([str(each.source.path) for each in files.lifecycle], names)]
    for finding in (*files.findings, *misnamed):
        _LOG.warning("left out: %s", finding.line())
    wrong = {finding.file for finding in misnamed}
    kept = [each for each in files.lifecycle if str(each.source.path) not in wrong]
    return replace(files, lifecycle=kept)


def _counting(files: validation.Validated) -> list[Source]:
    """The submissions that count: previews, and those not withdrawn or quarantined."""
    uncounted = {entry.source.path.name for entry in files.lifecycle}
    banned = contributors(_named_texts(files), known=False)
    return [
        file.source
        for file in files.submissions
        if file.source.place == "preview"
        or (
            file.source.path.name not in uncounted
            and (file.submission.contributor or "").lower() not in banned
        )
    ]


def _named_texts(files: validation.Validated) -> Iterator[tuple[str, str]]:
    return ((entry.source.path.name, entry.text) for entry in files.lifecycle)


def _sources(path: Path) -> str | None:
    """The table of sources as JSON; `None` if the collection has no such table."""
    if not path.is_file():
        return None
    document = validation.sources_document(path.read_bytes(), str(path))
    if isinstance(document, tuple):
        raise RejectedError(document)
    return orjson.dumps(document).decode()
