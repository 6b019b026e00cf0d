"""Cache the values that depend on a single submission file, by the file's content."""

import hashlib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context

import msgspec
import numpy as np

from estimates.summary import summarize
from pipeline.cache import Cache
from pipeline.collection.discover import Source
from pipeline.collection.plausibility.corpus import CorpusEntry
from pipeline.collection.validation import Accepted, checked, read_bytes
from schemas.codec import UNREADABLE
from schemas.finding import Finding

FILES_AT_ONCE = 16  # files that a process computes together


def entries_of(
    cache: Cache, sources: Iterable[Source], *, jobs: int = 1
) -> dict[Source, CorpusEntry]:
    """The entries of accepted submissions, cached if possible; refused files have none."""
    keys = {source: key_of(source) for source in sources}
    known: dict[Source, CorpusEntry] = {}
    for source, key in keys.items():
        with suppress(OverflowError, *UNREADABLE):  # a damaged entry is computed again
            if data := cache.get(key):
                known[source] = _decoded(data, key)
    missing = [source for source in keys if source not in known]
    for source, computed in zip(missing, _computed(missing, jobs), strict=True):
        if computed is not None:
            data, summary = computed
            key = keys[source]
            known[source] = _decoded(data, key)
            cache.put(key, data, level=0)  # digests do not compress
            cache.put(["summary", key], summary)
    return known


def summary_of(cache: Cache, source: Source, entry: CorpusEntry) -> bytes:
    """The JSON of the `Summary` of a submission for which `entries_of` returned this entry."""

    def make() -> bytes:
        computed = _compute(source)
        if computed is None:
            raise FileNotFoundError(source.path)
        return computed[1]

    return cache.get_or_make(["summary", entry.key], make)


def key_of(source: Source) -> str:
    """A cache key for a file: the digest of its bytes, name and folder, which affect validation."""
    data = read_bytes(source)
    head = "/".join((source.place, *source.path.parts[-3:])).encode()
    return hashlib.sha256(head + (b"" if isinstance(data, Finding) else data)).hexdigest()


def _computed(sources: list[Source], jobs: int) -> Iterable[tuple[bytes, bytes] | None]:
    if jobs <= 1 or len(sources) <= FILES_AT_ONCE:
        return map(_compute, sources)
    # Processes are not forked, because an open database of this process may have threads.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        return list(pool.map(_compute, sources, chunksize=FILES_AT_ONCE))


def _compute(source: Source) -> tuple[bytes, bytes] | None:
    """An accepted file's entry as MessagePack and its summary as JSON; `None` for a refused one."""
    accepted = checked(source)
    if not isinstance(accepted, Accepted):
        return None
    submission = accepted.submission
    outline = replace(
        submission,
        trials=(),
        suite=replace(submission.suite, prompts=()),
        warmups=None,
        probes=None,
        environment=None,
    )
    entry = replace(CorpusEntry.of(submission), submission=outline, digest=accepted.digest)
    data = msgspec.msgpack.encode(entry, enc_hook=np.ndarray.tobytes)
    return data, msgspec.json.encode(summarize(submission))


def _decoded(data: bytes, key: str) -> CorpusEntry:
    # The only arrays are fingerprints.
    entry = msgspec.msgpack.decode(
        data, type=CorpusEntry, dec_hook=lambda _, data: np.frombuffer(data, np.uint32)
    )
    return replace(entry, key=key)
