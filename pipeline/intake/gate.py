"""Decide whether a pull request may add its results, from git objects, never from a checkout.

First the paths, then the content: what the corpus demands of every file, and whether it may replace
the result that it names. A pull request that changes no results is not judged.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pipeline.collection.discover import Source
from pipeline.collection.lifecycle import superseding_findings, twice_superseded
from pipeline.collection.validate import Found, validate
from pipeline.intake import git, paths
from pipeline.intake.paths import FOLDER
from schemas import contract
from schemas.submission import Submission

FileFindings = dict[str, Found]
Decision = Literal["accepted", "rejected", "no-result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The gate's decision about the commits from `base` to `head`.

    `results` are the paths that would be added; `findings` maps a path to all that is wrong there;
    `submissions` are the results that could be read, by path.
    """

    base: str
    head: str
    decision: Decision
    results: tuple[str, ...]
    findings: Mapping[str, Found]
    submissions: Mapping[str, Submission] = field(default_factory=dict)
    author: str | None = None


def judge(repository: Path, *, base: str, head: str, author: str | None = None) -> Judgement:
    """The judgement on a pull request of `author`. Raises `GitError` when git cannot answer."""
    base, head = git.commit(repository, base), git.commit(repository, head)
    changes = git.changes(repository, base, head)
    results = tuple(change for change in changes if paths.is_result(change))
    found, submissions = _examined(repository, base, changes, author) if results else ({}, {})
    decision: Decision = "rejected" if found else "accepted"
    return Judgement(
        base=base,
        head=head,
        decision=decision if results else "no-result",
        results=tuple(change.path for change in results),
        findings=dict(sorted(found.items())),
        submissions=submissions,
        author=author,
    )


def _examined(
    repository: Path, base: str, changes: Sequence[git.Change], author: str | None
) -> tuple[FileFindings, dict[str, Submission]]:
    """All findings by path, and the submissions that can be read."""
    results = [change for change in changes if paths.is_result(change)]
    flood = paths.too_many(results)
    if flood is not None:
        return {FOLDER: (flood,)}, {}
    single = paths.outside_findings(changes)
    single |= paths.result_findings(results, git.names(repository, base, FOLDER))
    for change in results:
        if change.path not in single:
            size = paths.size_finding(git.size(repository, change.blob))
            if size is not None:
                single[change.path] = size
    sound = [change for change in results if change.path not in single]
    submissions, wrong = _contents(repository, sound)
    found: FileFindings = {path: (finding,) for path, finding in single.items()} | wrong
    return found | _superseding(repository, base, submissions, author), submissions


def _contents(
    repository: Path, changes: Iterable[git.Change]
) -> tuple[dict[str, Submission], FileFindings]:
    """The readable submissions among the blobs, and what is wrong with each of the others."""
    with TemporaryDirectory() as folder:
        copies = {Path(folder) / Path(change.path).name: change for change in changes}
        for copy, change in copies.items():
            copy.write_bytes(git.content(repository, change.blob))
        sources = [Source(path=copy, kind="submission", place="corpus") for copy in copies]
        validated = validate(sources)
    return (
        {copies[each.source.path].path: each.submission for each in validated.submissions},
        {copies[Path(copy)].path: found for copy, found in validated.findings.items()},
    )


def _superseding(
    repository: Path, base: str, submissions: Mapping[str, Submission], author: str | None
) -> FileFindings:
    """What is wrong with the results that replace others."""
    replacing = {path: s for path, s in submissions.items() if s.supersedes}
    named = {s.supersedes for s in replacing.values() if s.supersedes}
    there = named & {Path(path).name for path in git.names(repository, base, FOLDER)}
    old = {name: _read(repository, base, name) for name in sorted(there)}
    replaced_by = git.values(repository, base, FOLDER, "supersedes") if replacing else {}
    forks = twice_superseded(replacing, replaced_by)
    found = {
        path: superseding_findings(each, {k: v for k, v in old.items() if v}, author)
        for path, each in replacing.items()
    }
    return {path: each + forks.get(path, ()) for path, each in found.items() if each} | forks


def _read(repository: Path, base: str, name: str) -> Submission | None:
    """A result of the collection; `None` for one that today's rules would refuse."""
    result = contract.read(git.file(repository, base, f"{FOLDER}/{name}"))
    return result if isinstance(result, Submission) else None
