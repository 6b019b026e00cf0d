"""Validate a whole corpus on every core, and cache what was accepted.

The findings are those of `validate`. A certificate states that this very validator accepted these
very bytes under this name. Certificates are stored in a local file that never comes from a pull
request.
"""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import orjson

from pipeline.cache import own_digest
from pipeline.collection.discover import Source
from pipeline.collection.validate import (
    Found,
    duplicate_finding,
    read_bytes,
    validate,
)
from schemas.finding import Finding

_WORTH_A_PROCESS = 64  # files; starting a process costs as much as checking about as many
_CHUNK = 16


def corpus_findings(
    sources: Sequence[Source], *, certificates: Path | None = None, processes: int | None = None
) -> Found:
    """All that is wrong with these files; the same findings as `validate(sources)` has.

    Duplicates come last.
    """
    known = _read_certificates(certificates) if certificates else {}
    digests = {s.path: _digest(s) for s in sources if s.kind == "submission"}
    certain = {
        s.path
        for s in sources
        if _in_corpus(s) and s.path in digests and known.get(s.path.name) == digests[s.path]
    }
    rest = [source for source in sources if source.path not in certain]
    findings = [finding for found in _validate_all(rest, processes) for finding in found]
    wrong = {finding.file for finding in findings}
    if certificates:
        sound = [s for s in sources if s.path in digests and str(s.path) not in wrong]
        _write_certificates(
            certificates, {s.path.name: digests[s.path] for s in sound if _in_corpus(s)}
        )
    return (*findings, *_duplicates(sources, digests, wrong))


def _validate_all(sources: Sequence[Source], processes: int | None) -> Iterable[Found]:
    count = min(processes or os.cpu_count() or 1, len(sources) // _WORTH_A_PROCESS)
    if count <= 1:
        return [_validate(source) for source in sources]
    with ProcessPoolExecutor(max_workers=count) as pool:
        return list(pool.map(_validate, sources, chunksize=_CHUNK))


def _validate(source: Source) -> Found:
    return tuple(validate([source]).findings)


def _duplicates(
    sources: Sequence[Source], digests: Mapping[Path, str], wrong: Collection[str]
) -> Iterator[Finding]:
    """Among sound files: they are canonical, so the same content is the same bytes."""
    first: dict[str, Source] = {}
    for source in sources:
        if not _in_corpus(source) or source.path not in digests or str(source.path) in wrong:
            continue
        twin = first.setdefault(digests[source.path][:8], source)
        if twin != source:
            yield duplicate_finding(source, twin)


def _in_corpus(source: Source) -> bool:
    return source.place == "corpus"


def _digest(source: Source) -> str:
    data = read_bytes(source)
    return "" if isinstance(data, Finding) else hashlib.sha256(data).hexdigest()


def _read_certificates(path: Path) -> dict[str, str]:
    """File names and digests; nothing when another validator wrote them or they cannot be read."""
    try:
        stored = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    if not isinstance(stored, dict) or stored.get("validator") != own_digest():
        return {}
    files: dict[str, str] = stored["files"]
    return files


def _write_certificates(path: Path, files: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = {"validator": own_digest(), "files": files}
    path.write_bytes(orjson.dumps(stored, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
