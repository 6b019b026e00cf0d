"""Decide whether a pull request may add its results, from git objects, never from a checkout.

First the paths, then the content: what the corpus demands of every file, what only the sender and
the day can show, and whether a result may replace the one that it names. A pull request that
changes no results is not judged.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pipeline.collection import lifecycle
from pipeline.collection.discover import Kind, Source
from pipeline.collection.validate import Found, validate
from pipeline.intake import git, paths
from pipeline.intake.paths import FOLDER
from pipeline.intake.sending import UNKNOWN, Sending, sending_findings
from schemas import contract
from schemas.submission import Submission

FileFindings = dict[str, Found]
Decision = Literal["accepted", "rejected", "no-result"]

# In canonical JSON a quotation mark within a text is escaped, so this can only be the field.
_SUPERSEDES = re.compile(rb'"supersedes":"([A-Za-z0-9._-]*)"')


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


def judge(repository: Path, *, base: str, head: str, sent: Sending = UNKNOWN) -> Judgement:
    """The judgement on a pull request. Raises `GitError` when git cannot answer."""
    base, head = git.commit(repository, base), git.commit(repository, head)
    changes = git.changes(repository, base, head)
    results = tuple(change for change in changes if paths.is_result(change.path))
    submissions: dict[str, Submission] = {}
    if results:
        found, submissions = _examined(repository, base, changes, sent)
    elif paths.CURATION in sent.labels:
        found = _curated(repository, head, changes)
    else:
        found = paths.curated_findings(changes)
    decision: Decision = "accepted" if results else "no-result"
    return Judgement(
        base=base,
        head=head,
        decision="rejected" if found else decision,
        results=tuple(change.path for change in results),
        findings=dict(sorted(found.items())),
        submissions=submissions,
        author=sent.author,
    )


def _examined(
    repository: Path, base: str, changes: Sequence[git.Change], sent: Sending
) -> tuple[FileFindings, dict[str, Submission]]:
    """All findings by path, and the submissions that can be read."""
    results = [change for change in changes if paths.is_result(change.path)]
    flood = paths.too_many(results)
    if flood is not None:
        return {FOLDER: (flood,)}, {}
    there = git.files(repository, base, FOLDER)
    single = paths.outside_findings(changes) | paths.result_findings(results, there)
    sound = [change for change in results if change.path not in single]
    single |= paths.size_findings(sound, git.sizes(repository, {each.blob for each in sound}))
    sound = [change for change in sound if change.path not in single]
    submissions, found = _contents(repository, sound, "submission")
    found |= {path: (finding,) for path, finding in single.items()}
    for path, each in submissions.items():
        wrong = tuple(sending_findings(path.rpartition("/")[2], each, sent))
        if wrong:
            found[path] = wrong
    for path, more in _superseding(repository, there, submissions, sent).items():
        found[path] = (*found.get(path, ()), *more)
    return found, submissions


def _contents(
    repository: Path, changes: Sequence[git.Change], kind: Kind
) -> tuple[dict[str, Submission], FileFindings]:
    """The submissions among the blobs, and what is wrong with the other blobs, by path."""
    with TemporaryDirectory() as folder:
        copies = {Path(folder) / Path(change.path).name: change.path for change in changes}
        blobs = git.contents(repository, [change.blob for change in changes])
        for copy, data in zip(copies, blobs, strict=True):
            copy.write_bytes(data)
        validated = validate(Source(path=copy, kind=kind, place="corpus") for copy in copies)
    return (
        {copies[each.source.path]: each.submission for each in validated.submissions},
        {copies[Path(copy)]: found for copy, found in validated.findings.items()},
    )


def _curated(repository: Path, head: str, changes: Sequence[git.Change]) -> FileFindings:
    """What is wrong with entries and published documents that a maintainer lets in."""
    results = git.files(repository, head, FOLDER)
    found: FileFindings = {}
    for folder, kind in paths.CURATED.items():
        own = [each for each in changes if each.path.startswith(f"{folder}/")]
        added = [each for each in own if each.mode == paths.REGULAR_FILE]
        if kind == "lifecycle":
            found |= lifecycle.misnamed_entries([each.path for each in added], results)
        found |= _contents(repository, added, kind)[1]
    return found


def _superseding(
    repository: Path,
    there: Mapping[str, str],
    submissions: Mapping[str, Submission],
    sent: Sending,
) -> FileFindings:
    """What is wrong with the results that replace others; `there` maps the base's to blobs."""
    replacing = {path: each for path, each in submissions.items() if each.supersedes}
    if not replacing:
        return {}
    replaced = {each.supersedes for each in replacing.values()}
    names = [name for name, blob in there.items() if blob and name in replaced]
    read = map(contract.read, git.contents(repository, [there[name] for name in names]))
    # One that today's rules would refuse cannot be replaced.
    old = {n: each for n, each in zip(names, read, strict=True) if isinstance(each, Submission)}
    forks = lifecycle.twice_superseded(replacing, _replaced_by(repository, there))
    found = {
        path: lifecycle.superseding_findings(each, old, sent.contributor) + forks.get(path, ())
        for path, each in replacing.items()
    }
    return {path: each for path, each in found.items() if each}


def _replaced_by(repository: Path, there: Mapping[str, str]) -> dict[str, str]:
    """The results of the base that are superseded already, each with its replacement."""
    blobs = {name: blob for name, blob in there.items() if blob}
    contents = git.contents(repository, list(blobs.values()))
    return {
        match[1].decode(): name
        for name, data in zip(blobs, contents, strict=True)
        if (match := _SUPERSEDES.search(data))
    }
