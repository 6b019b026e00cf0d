"""Does what replaces or withdraws a result name one that is there, and may it?

A result is never edited and never removed. A newer one of the same contributor may name it as
superseded, or maintainers put an entry under its name into `results/lifecycle/`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.collection.validate import Verdict
from schemas.finding import ROOT, Finding
from schemas.submission import Submission

_PLACE = "$.supersedes"


def collection_findings(verdict: Verdict) -> dict[str, tuple[Finding, ...]]:
    """What is wrong between the files of the whole collection, by file. Previews have no say."""
    members = [accepted for accepted in verdict.submissions if accepted.source.place == "corpus"]
    by_name = {accepted.source.path.name: accepted.submission for accepted in members}
    found = {
        str(accepted.source.path): superseding_findings(accepted.submission, by_name)
        for accepted in members
    }
    found |= {
        str(entry.source.path): _entry_findings(entry.source.path.name, by_name)
        for entry in verdict.lifecycle
    }
    return {file: findings for file, findings in found.items() if findings}


def superseding_findings(
    new: Submission, collection: Mapping[str, Submission], author: str | None = None
) -> tuple[Finding, ...]:
    """Whether a result may replace the one that it names; `author` is who sends it, if known."""
    name = new.supersedes
    if name is None:
        return ()
    old = collection.get(name)
    if old is None:
        return (_missing(name),)
    if old.contributor is None:
        message = (
            f"{name} names no contributor, so nobody can show that it is theirs; leave the field "
            "out and ask in an issue to have the old result withdrawn"
        )
        return (_finding("superseding-anonymous", message),)
    if not _same(new.contributor, old.contributor):
        message = (
            f"{name} is by {old.contributor}, this result is not; only who sent a result may "
            "replace it: leave the field out"
        )
        return (_finding("superseding-contributor", message),)
    if author is not None and not _same(author, old.contributor):
        message = (
            f"{name} is by {old.contributor}, the pull request is by {author}; let "
            f"{old.contributor} open it, or leave the field out"
        )
        return (_finding("superseding-author", message),)
    return ()


def twice_superseded(
    new: Mapping[str, Submission], replaced_by: Mapping[str, str]
) -> dict[str, tuple[Finding, ...]]:
    """Results that replace what another one replaces already: the line would fork.

    `new` are submissions by path, `replaced_by` says what replaced a result of the collection.
    """
    taken = dict(replaced_by)
    found: dict[str, tuple[Finding, ...]] = {}
    for path, submission in sorted(new.items()):
        old = submission.supersedes
        name = path.rpartition("/")[2]
        if old is None or taken.setdefault(old, name) == name:
            continue
        message = f"{old} is superseded by {taken[old]} already; name {taken[old]} instead"
        found[path] = (_finding("superseding-twice", message),)
    return found


def _entry_findings(name: str, collection: Mapping[str, Submission]) -> tuple[Finding, ...]:
    if name in collection:
        return ()
    message = "there is no result of this name in results/community/; rename the entry"
    return (Finding(path=ROOT, message=message, rule="lifecycle-name"),)


def _missing(name: str) -> Finding:
    message = f"{name} is not in results/community/; name a result that is there, or leave it out"
    return _finding("superseding-unknown", message)


def _same(one: str | None, other: str) -> bool:
    """Handles of the code host are the same in any case of their letters."""
    return one is not None and one.lower() == other.lower()


def _finding(rule: str, message: str) -> Finding:
    return Finding(path=_PLACE, message=message, rule=rule)
