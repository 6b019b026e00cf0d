"""What each file says by itself, derived once for its content and stored in Parquet partitions.

Validation, names, estimates, flags and what comparisons need depend on the bytes of one file and
on our own code. A row is found by a digest of the file, its name and its place; a folder of
partitions by a digest of the code. A partition may come from an earlier build or another machine:
the cache is a product of builds and holds nothing that a build without it would not derive.
"""

import gc
import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import estimates
import schemas
from estimates.identity import Identity, identify
from estimates.model import Summary
from estimates.summary import summarize
from pipeline import collection
from pipeline.collection.corpus import code_digest
from pipeline.collection.discover import Source
from pipeline.collection.plausibility.corpus import Member
from pipeline.collection.plausibility.fingerprint import TimingFingerprint
from pipeline.collection.plausibility.peers import BaselineSpeed
from pipeline.collection.validate import Accepted, Found, checked, read_bytes
from pipeline.data.load import Entry, typed
from schemas.finding import Finding
from schemas.submission import Submission

Keyed: TypeAlias = tuple[str, Source]

PARTITION = 64  # files; also what starting a process is worth
MOST_SMALL = 16  # partitions of less than half that size, before they are put together
_VERSION = re.compile("v-[0-9a-f]{16}")
_MARKS = ("times", "ratios")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """One submission without its trials and prompts, and what comparisons need of them."""

    digest: str
    outline: Submission
    identity: Identity
    speed: BaselineSpeed | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One accepted submission: `key` is that of its row in the partition `path`."""

    key: str
    path: Path
    accepted: Accepted
    member: Member


def gather(
    folder: Path, sources: Iterable[Source], *, jobs: int = 1
) -> tuple[dict[Source, Fact], dict[Source, Found]]:
    """The facts of all submissions, those that are missing derived; and what is wrong with others.

    A file that no finding is about may be in neither: a preview of what another preview holds.
    """
    keyed = {source: key_of(source) for source in sources}
    rejected = derive(folder, ((key, source) for source, key in keyed.items()), jobs=jobs)
    place = folder / version()
    known = _known(place)
    wanted: dict[Path, dict[str, Source]] = {}
    for source, key in keyed.items():
        if key in known:
            wanted.setdefault(known[key], {})[key] = source
    found: dict[str, Fact] = {}
    for path, own in wanted.items():
        found |= _read(path, own)
    return {source: found[key] for source, key in keyed.items() if key in found}, rejected


def derive(folder: Path, keyed: Iterable[Keyed], *, jobs: int = 1) -> dict[Source, Found]:
    """Write partitions for what is missing; returns what is wrong with files that were refused."""
    place = folder / version()
    place.mkdir(parents=True, exist_ok=True)
    known = _known(place)
    if _put_together(place, Counter(known.values())):
        known = _known(place)
    missing = iter([each for each in keyed if each[0] not in known])
    tasks = [(place, part) for part in iter(lambda: list(islice(missing, PARTITION)), [])]
    if jobs <= 1 or len(tasks) <= 1:
        results = map(_write_part, tasks)
        return {source: found for part in results for source, found in part.items()}
    # No fork: a database that this process has opened may have threads.
    with ProcessPoolExecutor(min(jobs, len(tasks)), get_context("spawn")) as pool:
        return {
            source: found for part in pool.map(_write_part, tasks) for source, found in part.items()
        }


def derive_share(
    folder: Path, sources: Iterable[Source], *, share: int, shares: int, jobs: int
) -> tuple[int, Found]:
    """Derive the facts of one machine's share: how many files, and the findings on them.

    Shares are chosen by content, so that a new file moves no other.
    """
    keyed = ((key_of(source), source) for source in sources if source.kind == "submission")
    own = [each for each in keyed if int(each[0][:8] or "0", 16) % shares == share - 1]
    refused = derive(folder, own, jobs=jobs)
    return len(own), tuple(finding for found in refused.values() for finding in found)


def summaries(facts: Iterable[Fact]) -> Iterator[tuple[Fact, Summary]]:
    """The stored summaries of some submissions."""
    by_path: dict[Path, dict[str, Fact]] = {}
    for fact in facts:
        by_path.setdefault(fact.path, {})[fact.key] = fact
    for path, wanted in by_path.items():
        only = [("key", "in", list(wanted))]
        for row in pq.read_table(path, columns=["key", "summary"], filters=only).to_pylist():
            yield wanted[row["key"]], msgspec.convert(row["summary"], Summary)


def prune(folder: Path) -> None:
    """Remove partitions that other code wrote."""
    for path in folder.iterdir():
        if _VERSION.fullmatch(path.name) and path.name != version():
            shutil.rmtree(path)


@cache
def version() -> str:
    """The name of the folder for partitions that this code writes."""
    here = Path(__file__).parent
    roots = [Path(next(iter(each.__path__))) for each in (schemas, estimates, collection)]
    digest = code_digest((*roots, here / "facts.py", here / "load.py", here / "sql" / "load"))
    return f"v-{digest[:16]}"


def key_of(source: Source) -> str:
    """What a row is found by; empty for a file that cannot be read."""
    data = read_bytes(source)
    if isinstance(data, Finding):
        return ""
    head = f"{source.place}/{source.path.name}\n".encode()
    return hashlib.sha256(head + data).hexdigest()


def _known(place: Path) -> dict[str, Path]:
    """The partition of each key. One that cannot be read is removed: it will be derived again."""
    known: dict[str, Path] = {}
    for path in sorted(place.glob("*.parquet"), reverse=True):
        try:
            known |= dict.fromkeys(_keys(path, path.stat().st_mtime_ns), path)
        except (OSError, pa.ArrowInvalid):
            path.unlink()
    return known


@cache
def _keys(path: Path, _changed: int) -> tuple[str, ...]:
    """The keys in a partition. This takes half as long as `read_table`."""
    return tuple(pq.ParquetFile(path).read(columns=["key"])["key"].to_pylist())


def _put_together(place: Path, parts: Mapping[Path, int]) -> bool:
    """Many builds with one new file each must not end in as many partitions."""
    small = sorted(path for path, rows in parts.items() if rows < PARTITION // 2)
    if len(small) <= MOST_SMALL:
        return False
    _write(place, pa.concat_tables([pq.read_table(path) for path in small]))
    for path in small:
        path.unlink()
    return True


def _write_part(task: tuple[Path, Sequence[Keyed]]) -> dict[Source, Found]:
    """Derive the facts of some files and write them; returns the findings on the others."""
    gc.disable()  # a submission is a tree of thousands of objects, none of which forms a circle
    try:
        return _derived(*task)
    finally:
        gc.enable()


def _derived(place: Path, keyed: Sequence[Keyed]) -> dict[Source, Found]:
    refused: dict[Source, Found] = {}
    entries: dict[str, tuple[str, Entry, Accepted]] = {}
    for key, source in keyed:
        result = checked(source)
        if not isinstance(result, Accepted):
            refused[source] = result if isinstance(result, tuple) else ()
            continue
        entry = _entry(result)
        entries.setdefault(entry.id, (key, entry, result))
    if entries:
        table = typed(entry for _, entry, _ in entries.values())
        ordered = [entries[name] for name in table["submission"].to_pylist()]
        _write(place, _with_marks(table, [(key, accepted) for key, _, accepted in ordered]))
    return refused


def _entry(accepted: Accepted) -> Entry:
    preview = accepted.source.place == "preview"
    return Entry(
        id=f"preview-{accepted.digest}" if preview else accepted.source.path.stem,
        file=accepted.source.path.name,
        preview=preview,
        text=accepted.text,
        submission=accepted.submission,
        summary=summarize(accepted.submission),
    )


def _with_marks(table: pa.Table, rows: Sequence[tuple[str, Accepted]]) -> pa.Table:
    prints = [TimingFingerprint.of(accepted.submission) for _, accepted in rows]
    about = [_about(accepted) for _, accepted in rows]
    table = table.append_column("key", pa.array([key for key, _ in rows], pa.string()))
    table = table.append_column("about", pa.array(about, pa.binary()))
    for name in _MARKS:
        values = pa.array([getattr(each, name) for each in prints], pa.list_(pa.uint32()))
        table = table.append_column(name, values)
    return table


def _about(accepted: Accepted) -> bytes:
    submission = accepted.submission
    named = identify(submission)
    suite = replace(submission.suite, prompts=())
    outline = replace(
        submission, trials=(), suite=suite, warmups=None, probes=None, environment=None
    )
    return msgspec.json.encode(
        About(
            digest=accepted.digest,
            outline=outline,
            identity=named,
            speed=BaselineSpeed.of(submission, named),
        )
    )


def _write(place: Path, table: pa.Table) -> None:
    """A partition is complete or absent, and the same rows have the same name."""
    digest = hashlib.sha256("".join(table["key"].to_pylist()).encode()).hexdigest()
    unfinished = place / f"{digest[:16]}.unfinished"
    pq.write_table(table, unfinished, compression="zstd")
    unfinished.replace(place / f"{digest[:16]}.parquet")


def _read(path: Path, wanted: Mapping[str, Source]) -> dict[str, Fact]:
    table = pq.ParquetFile(path).read(columns=["key", "about", *_MARKS])
    marks = {name: _lists(table[name].combine_chunks()) for name in _MARKS}
    found: dict[str, Fact] = {}
    for at, (key, text) in enumerate(zip(table["key"], table["about"], strict=True)):
        source = wanted.get(key.as_py())
        if source is None:
            continue
        about = msgspec.json.decode(text.as_py(), type=About)
        own = {name: values[at] for name, values in marks.items()}
        found[key.as_py()] = Fact(
            key=key.as_py(),
            path=path,
            accepted=Accepted(
                source=source, submission=about.outline, text="", digest=about.digest
            ),
            member=Member(
                submission=about.outline,
                identity=about.identity,
                fingerprint=TimingFingerprint(**own),
                speed=about.speed,
                digest=about.digest,
            ),
        )
    return found


def _lists(column: pa.ListArray) -> list[NDArray[Any]]:
    values, offsets = column.values.to_numpy(), column.offsets.to_numpy()
    return [values[start:end] for start, end in pairwise(offsets)]
