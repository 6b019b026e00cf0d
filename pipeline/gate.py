"""May this pull request add its results? Judged from git objects, never from a checkout.

First the paths: only new regular files with a canonical name. Then the content: what the corpus
demands of every file. A pull request that touches no result is none of this gate's business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from pipeline import git
from pipeline.discover import Source
from pipeline.validate import validate
from schemas.canonical import FILE_NAME
from schemas.finding import ROOT, Finding
from schemas.strict import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FOLDER = "results/community"
MAX_RESULTS = 100
_REGULAR_FILE = "100644"
_SORTS = {"120000": "a symbolic link", "160000": "a submodule", "100755": "an executable file"}
_DEEDS = {"M": "changes", "D": "removes", "T": "changes the kind of"}
_RESERVED_ON_WINDOWS = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_DIGEST = re.compile(r"-[0-9a-f]{8}\.json")

Decision = Literal["accepted", "rejected", "no-result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the gate says about the commits from `base` to `head`.

    `results` are the paths that would be added; `findings` maps a path to all that is wrong there.
    """

    base: str
    head: str
    decision: Decision
    results: tuple[str, ...]
    findings: Mapping[str, tuple[Finding, ...]]


def judge(repository: Path, *, base: str, head: str) -> Judgement:
    """The judgement on a pull request. Raises `GitError` when git cannot answer."""
    base, head = git.commit(repository, base), git.commit(repository, head)
    changes = git.changes(repository, base, head)
    results = tuple(change for change in changes if _is_result(change))
    if not results:
        return Judgement(base=base, head=head, decision="no-result", results=(), findings={})
    taken = frozenset(git.names(repository, base, FOLDER))
    findings = _by_path(_path_findings(repository, changes, taken))
    sound = [change for change in results if change.path not in findings]
    findings |= _content_findings(repository, sound)
    return Judgement(
        base=base,
        head=head,
        decision="rejected" if findings else "accepted",
        results=tuple(change.path for change in results),
        findings=dict(sorted(findings.items())),
    )


def _is_result(change: git.Change) -> bool:
    return change.path == FOLDER or change.path.startswith(f"{FOLDER}/")


def _path_findings(
    repository: Path, changes: Iterable[git.Change], taken: frozenset[str]
) -> Iterator[tuple[str, Finding]]:
    digests = {match[0] for path in taken if (match := _DIGEST.search(path))}
    for number, change in enumerate(changes):
        if number >= MAX_RESULTS:
            message = f"more than {MAX_RESULTS} files in one pull request; split it"
            yield change.path, _finding("path-count", message)
            return
        found = _path_finding(repository, change, taken, digests)
        if found is not None:
            yield change.path, found


def _path_finding(
    repository: Path, change: git.Change, taken: frozenset[str], digests: set[str]
) -> Finding | None:
    """The first thing that is wrong with a path; what follows would only repeat it."""
    name = change.path.removeprefix(f"{FOLDER}/")
    ending = _DIGEST.search(name)
    if not _is_result(change):
        message = "a pull request that adds results changes nothing else; move this to another one"
        return _finding("path-outside", message)
    if change.status != "A":
        deed = _DEEDS.get(change.status, "touches")
        message = f"{deed} a result that is there; results are only ever added"
        return _finding("path-not-added", message)
    if change.mode != _REGULAR_FILE:
        sort = _SORTS.get(change.mode, f"an entry of mode {change.mode}")
        return _finding("path-mode", f"is {sort}; add a regular file (mode {_REGULAR_FILE})")
    if not FILE_NAME.fullmatch(name) or _RESERVED_ON_WINDOWS.fullmatch(name):
        message = "the name is not canonical; let `python -m harness submit` put the file in place"
        return _finding("path-name", message)
    if change.path in taken or (ending and ending[0] in digests):
        return _finding("path-duplicate", "the same content is in the results already; remove it")
    return _size_finding(git.size(repository, change.blob))


def _size_finding(size: int) -> Finding | None:
    if size <= MAX_BYTES:
        return None
    return _finding("path-size", f"{size} bytes, at most {MAX_BYTES} are accepted")


def _content_findings(
    repository: Path, changes: Iterable[git.Change]
) -> dict[str, tuple[Finding, ...]]:
    """What the corpus says about the blobs, written as data into a folder that nobody else sees."""
    with TemporaryDirectory() as folder:
        copies = {Path(folder) / Path(change.path).name: change for change in changes}
        for copy, change in copies.items():
            copy.write_bytes(git.content(repository, change.blob))
        sources = [Source(path=copy, kind="submission", place="corpus") for copy in copies]
        findings = validate(sources).findings
    return {copies[Path(copy)].path: found for copy, found in findings.items()}


def _by_path(findings: Iterable[tuple[str, Finding]]) -> dict[str, tuple[Finding, ...]]:
    return {path: (finding,) for path, finding in findings}


def _finding(rule: str, message: str) -> Finding:
    return Finding(path=ROOT, message=message, rule=rule)
