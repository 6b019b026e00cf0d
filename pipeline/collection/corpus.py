"""Validate a whole corpus on every core. The findings are those of `validate`."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

from pipeline.collection.discover import Source
from pipeline.collection.validate import Accepted, Found, checked, duplicate_finding
from schemas.finding import Finding

_WORTH_A_PROCESS = 64  # files; starting a process costs as much as checking about as many
_CHUNK = 16


def corpus_findings(sources: Sequence[Source]) -> Found:
    """All that is wrong with these files, as `validate` finds it; duplicates come last."""
    findings: list[Finding] = []
    duplicates: list[Finding] = []
    first: dict[str, Source] = {}
    for source, (digest, found) in zip(sources, _check_all(sources), strict=True):
        findings += found
        if digest is not None and (twin := first.setdefault(digest, source)) != source:
            duplicates.append(duplicate_finding(source, twin))
    return (*findings, *duplicates)


def _check_all(sources: Sequence[Source]) -> Iterable[tuple[str | None, Found]]:
    count = min(os.cpu_count() or 1, len(sources) // _WORTH_A_PROCESS)
    if count <= 1:
        return map(_check, sources)
    with ProcessPoolExecutor(max_workers=count) as pool:
        return list(pool.map(_check, sources, chunksize=_CHUNK))


def _check(source: Source) -> tuple[str | None, Found]:
    """The digest if this is an accepted submission of the corpus, and what is wrong with it."""
    result = checked(source)
    if isinstance(result, tuple):
        return None, result
    if isinstance(result, Accepted) and source.place == "corpus":
        return result.digest, ()
    return None, ()
