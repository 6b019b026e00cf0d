"""Decide whether a pull request may add its results, from git objects, never from a checkout."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Literal

from pipeline.collection import lifecycle
from pipeline.collection.discover import Kind, Source
from pipeline.collection.published import Row
from pipeline.collection.validation import Found, checked, combined, sources_document
from pipeline.intake import git, paths
from pipeline.intake.authorship import (
    MAX_RESULTS,
    UNKNOWN,
    Sending,
    sending_findings,
    twin_findings,
)
from pipeline.intake.conflicts import NAMED_OTHERWISE, base_findings, is_new
from pipeline.intake.figures import figure_findings
from pipeline.intake.paths import FOLDER
from schemas.finding import Finding
from schemas.submission import Submission

MAX_ARMS = 200  # of all results together; each takes about 0.1 MB of the site, which may have 1 GB

Decision = Literal["accepted", "rejected", "no-result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The gate's decision about the commits from `base` to `head`.

    `results` are the paths of result files that the commits change. `findings` are sorted by file;
    `questions` are findings for the maintainers, which refuse nothing.
    `submissions` are the readable results, by path. `is_new` means that no lifecycle entry names
    the author yet.
    """

    base: str
    head: str
    decision: Decision
    results: tuple[str, ...]
    findings: Found
    questions: Found = ()
    submissions: Mapping[str, Submission] = field(default_factory=dict)
    author: str | None = None
    is_new: bool = False


def judge(repository: Path, *, base: str, head: str, sent: Sending = UNKNOWN) -> Judgement:
    """Judge a pull request. Raises `GitError` if git cannot answer."""
    base, head = git.commit(repository, base), git.commit(repository, head)
    changes = git.changes(repository, base, head)
    results = tuple(change for change in changes if paths.is_result(change.path))
    is_new_author = bool(results) and is_new(repository, base, sent.author)
    if results:
        read = _examined(repository, base, changes, sent)
    elif sent.of_form:
        results, found = changes, tuple(paths.posted_findings(changes))
        read = _Contents(findings=found) if found else _figures(repository, base, changes, sent)
    elif paths.CURATION in sent.labels:
        read = _curated(repository, base, head, changes, sent)
    else:
        read = _Contents(findings=paths.curated_findings(changes))
    questions = tuple(each for each in read.findings if each.rule == NAMED_OTHERWISE)
    findings = [each for each in read.findings if each.rule != NAMED_OTHERWISE]
    decision: Decision = "accepted" if results else "no-result"
    return Judgement(
        base=base,
        head=head,
        decision="rejected" if findings else decision,
        results=tuple(change.path for change in results),
        findings=tuple(sorted(findings, key=attrgetter("file"))),
        questions=questions,
        submissions=read.submissions,
        author=sent.author,
        is_new=is_new_author,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """The result of checking the contents of files.

    `submissions` and `published` documents are the valid ones, by path; `findings` are about
    invalid files.
    """

    submissions: Mapping[str, Submission] = field(default_factory=dict)
    published: Mapping[str, Row] = field(default_factory=dict)
    findings: Found = ()


def _examined(
    repository: Path, base: str, changes: Sequence[git.Change], sent: Sending
) -> _Contents:
    """All findings on a pull request with results, and the submissions that could be read."""
    results = [change for change in changes if paths.is_result(change.path)]
    if len(results) > MAX_RESULTS:  # no result is read in this case
        message = (
            f"{len(results)} files in one pull request, but at most {MAX_RESULTS} are accepted; "
            "split the pull request"
        )
        return _Contents(findings=(paths.path_finding(FOLDER, "path-count", message),))
    there = git.files(repository, base, FOLDER)
    findings = [*paths.outside_findings(changes), *paths.result_findings(results, there)]
    sound = _without(findings, results)
    findings += paths.size_findings(sound, git.sizes(repository, {file.blob for file in sound}))
    read = _contents(repository, _without(findings, sound), "submission")
    submissions = read.submissions
    findings += read.findings
    if (arms := sum(len(each.arms) for each in submissions.values())) > MAX_ARMS:
        message = (
            f"{arms} arms in one pull request, but at most {MAX_ARMS} are accepted; split the "
            "pull request"
        )
        findings.append(paths.path_finding(FOLDER, "path-count", message))
    for path, submission in submissions.items():
        findings += sending_findings(path, submission, sent)
    findings += twin_findings(submissions, there)
    findings += base_findings(repository, base, submissions, sent.contributor)
    return replace(read, findings=tuple(findings))


def _without(found: Iterable[Finding], changes: Iterable[git.Change]) -> list[git.Change]:
    """The changes without a finding."""
    wrong = {finding.file for finding in found}
    return [change for change in changes if change.path not in wrong]


def _contents(repository: Path, changes: Sequence[git.Change], kind: Kind) -> _Contents:
    """Read and check changed files of one kind."""
    blobs = dict(git.contents(repository, {change.path: change.blob for change in changes}))
    sources = {path: Source(path=Path(path), kind=kind, place="corpus") for path in blobs}
    validated = combined((each, checked(each, blobs[path])) for path, each in sources.items())
    return _Contents(
        submissions={str(each.source.path): each.submission for each in validated.submissions},
        published={str(each.source.path): json.loads(each.text) for each in validated.published},
        findings=tuple(validated.findings),
    )


def _figures(
    repository: Path, base: str, changes: Sequence[git.Change], sent: Sending
) -> _Contents:
    """Findings on changed published documents, by themselves and with those on the base."""
    read = _contents(repository, changes, "published")
    found = figure_findings(repository, base, read.published, sent)
    return replace(read, findings=(*read.findings, *found))


def _curated(
    repository: Path, base: str, head: str, changes: Sequence[git.Change], sent: Sending
) -> _Contents:
    """Findings on a maintainer's changes to lifecycle entries, published documents and sources."""
    results = git.files(repository, head, FOLDER)
    there = [each for each in changes if paths.is_data(each.path) and each.status != "D"]
    found: list[Finding] = [*paths.curated_path_findings(there)]
    sound = _without(found, there)
    found += paths.size_findings(sound, git.sizes(repository, {each.blob for each in sound}))
    sound = _without(found, sound)
    sources = {each.path: each.blob for each in sound if each.path == paths.SOURCES}
    for path, data in git.contents(repository, sources):
        document = sources_document(data, path)
        found += document if isinstance(document, tuple) else ()
    for folder, kind in paths.CURATED.items():
        added = [each for each in sound if each.path.startswith(f"{folder}/")]
        if kind == "published":
            read = _figures(repository, base, added, sent)
        else:
            read = _contents(repository, added, kind)
        found += read.findings
        if kind == "lifecycle":
            rest = [each.path for each in _without(found, added)]
            found += lifecycle.misnamed_entries(rest, results)
    return _Contents(findings=tuple(found))
