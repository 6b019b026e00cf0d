"""Check what replaces or withdraws a result: does it name one that exists, and may it?

A result is never edited or removed. A newer one of the same contributor may name it as superseded,
or maintainers add an entry to `results/lifecycle/`: about one result, or all of a contributor.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import orjson

from pipeline.collection.validate import Found, Validated, contributor_of
from schemas.finding import ROOT, Finding
from schemas.submission import Submission

_PLACE = "$.supersedes"


def without_contradictions(files: Validated) -> tuple[Validated, dict[str, Found]]:
    """The files without those that contradict others, and the findings on those."""
    left_out: dict[str, Found] = {}
    while found := _contradictions(files):
        left_out |= found
        files = replace(
            files,
            submissions=[each for each in files.submissions if str(each.source.path) not in found],
            lifecycle=[each for each in files.lifecycle if str(each.source.path) not in found],
        )
    return files, left_out


def _contradictions(files: Validated) -> dict[str, Found]:
    """What is wrong between the files of the whole collection, by file. Previews are ignored."""
    members = [accepted for accepted in files.submissions if accepted.source.place == "corpus"]
    by_name = {accepted.source.path.name: accepted.submission for accepted in members}
    found = {
        str(accepted.source.path): superseding_findings(accepted.submission, by_name)
        for accepted in members
    }
    sound = {str(each.source.path): each.submission for each in members}
    found |= twice_superseded({path: new for path, new in sound.items() if not found[path]}, {})
    found |= misnamed_entries([str(entry.source.path) for entry in files.lifecycle], by_name)
    return {file: findings for file, findings in found.items() if findings}


def superseding_findings(
    new: Submission, collection: Mapping[str, Submission], author: str | None = None
) -> Found:
    """What forbids a result to replace the one it names; `author` is who sends it, if known."""
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
            f"{name} is by {old.contributor}, this result is not; only its contributor may "
            "replace a result: leave the field out"
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
) -> dict[str, Found]:
    """Results that replace what another one replaces already.

    `new` are submissions by path, `replaced_by` maps names in the collection to their replacements.
    """
    taken = dict(replaced_by)
    found: dict[str, Found] = {}
    for path, submission in sorted(new.items()):
        old = submission.supersedes
        name = path.rpartition("/")[2]
        if old is None or taken.setdefault(old, name) == name:
            continue
        message = f"{old} is superseded by {taken[old]} already; name {taken[old]} instead"
        found[path] = (_finding("superseding-twice", message),)
    return found


def misnamed_entries(entries: Iterable[str], results: Collection[str]) -> dict[str, Found]:
    """Lifecycle entries, by path, that are about no contributor and no result of the collection."""
    message = "there is no result of this name in results/community/; rename the entry"
    finding = Finding(path=ROOT, message=message, rule="lifecycle-name")
    return {
        path: (finding,)
        for path in entries
        if Path(path).name not in results and contributor_of(Path(path).name) is None
    }


def ended_contributors(entries: Iterable[tuple[str, str | bytes]]) -> dict[str, str]:
    """Why no result of a contributor counts, by their name, from the entries' names and texts."""
    found = ((contributor_of(name), orjson.loads(text)) for name, text in entries)
    return {name: each["reason"] for name, each in found if name and each["status"] != "known"}


def _missing(name: str) -> Finding:
    message = f"{name} is not in results/community/; name a result that is, or leave the field out"
    return _finding("superseding-unknown", message)


def _same(one: str | None, other: str) -> bool:
    """GitHub user names are the same in any case of their letters."""
    return one is not None and one.lower() == other.lower()


def _finding(rule: str, message: str) -> Finding:
    return Finding(path=_PLACE, message=message, rule=rule)
