"""Refuse results of contributors whom maintainers excluded, and copies of withdrawn results.

A copy under a different name, day or machine has the same times; a new measurement does not.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.collection.lifecycle import contributors
from pipeline.collection.plausibility import corpus_flags
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.collection.validation import contributor_of
from pipeline.intake import git
from schemas import contract
from schemas.finding import ROOT, Finding, in_file
from schemas.submission import Submission
from schemas.validator import LIFECYCLE_SCHEMA

FOLDER = "results/community"
LIFECYCLE = "results/lifecycle"
# In canonical JSON, quotation marks inside a text are escaped, so this match can only be the field.
_CONTRIBUTOR = re.compile(rb'"contributor":"([A-Za-z0-9-]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawals:
    """The withdrawn results and the excluded contributors at a revision.

    `results` are file names; `contributors` maps a user name to the reason. `known` are the
    contributors that lifecycle entries mark as known.
    """

    results: frozenset[str]
    contributors: Mapping[str, str]
    known: frozenset[str]


def withdrawals(repository: Path, revision: str) -> Withdrawals:
    """The withdrawals at a revision. Raises `GitError` if git cannot answer."""
    entries = git.files(repository, revision, LIFECYCLE)
    about = {name: blob for name, blob in entries.items() if contributor_of(name)}
    texts = tuple(git.contents(repository, about))
    for name, text in texts:
        if contract.document_findings(text, LIFECYCLE_SCHEMA):
            raise git.GitError(
                f"{LIFECYCLE}/{name} in the base revision is not a valid entry; repair that entry "
                "first"
            )
    return Withdrawals(
        results=frozenset(n for n, blob in entries.items() if blob and n not in about),
        contributors=contributors(texts, known=False),
        known=frozenset(contributors(texts, known=True)),
    )


def is_new(repository: Path, revision: str, author: str | None) -> bool:
    """Whether an author has no lifecycle entry yet; a new author cannot confirm a cell."""
    name = f"contributor--{(author or '').lower()}.json"
    return author is not None and name not in git.files(repository, revision, LIFECYCLE)


def withdrawal_findings(
    repository: Path, base: str, new: Mapping[str, Submission], author: str | None
) -> Iterator[Finding]:
    """Findings on new results by excluded contributors, and on copies of withdrawn results."""
    there = withdrawals(repository, base)
    if not new or not (there.results or there.contributors):
        return
    old = Corpus.of(tuple(_submissions(repository, base, there)))
    for path, each in new.items():
        yield from in_file(_by_ended(each, author, there.contributors), path)
        yield from in_file(_copied_again(each, old), path)


def _by_ended(
    submission: Submission, author: str | None, reasons: Mapping[str, str]
) -> Iterator[Finding]:
    names = {(name or "").lower() for name in (submission.contributor, author)}
    for name in sorted(names & reasons.keys()):
        message = (
            f"maintainers withdrew or quarantined the results of {name}: {reasons[name]}; open an "
            "issue before sending more"
        )
        yield Finding(path="$.contributor", message=message, rule="contributor-ended")


def _copied_again(submission: Submission, old: Corpus) -> Iterator[Finding]:
    """Findings on times copied from withdrawn results, even if the copy claims to replace them."""
    for flag in corpus_flags(replace(submission, supersedes=None), old):
        if flag.name == "copied-times":
            message = (
                f"this result was withdrawn or is in quarantine. {flag.message} Open an issue to "
                "have the decision changed, or measure again"
            )
            yield Finding(path=ROOT, message=message, rule="ended-result")


def _submissions(repository: Path, base: str, there: Withdrawals) -> Iterator[Submission]:
    """The withdrawn results, and all results from excluded contributors."""
    files = git.files(repository, base, FOLDER)
    if not there.contributors:
        files = {name: blob for name, blob in files.items() if name in there.results}
    for name, data in git.contents(repository, files):
        match = _CONTRIBUTOR.search(data)
        if name in there.results or (match and match[1].decode().lower() in there.contributors):
            read = contract.read(data)
            if isinstance(read, Submission):
                yield read
