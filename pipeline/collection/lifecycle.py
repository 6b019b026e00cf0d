"""Check results that supersede others, and lifecycle entries: a result that they name must exist.

A result is never edited or removed. Instead, a newer result from the same contributor may name it
as superseded, or maintainers may add an entry about it, or about its contributor, to
`results/lifecycle/`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import orjson

from pipeline.collection.validation import Found, Validated, contributor_of
from schemas.finding import ROOT, Finding
from schemas.submission import Submission


def without_contradictions(files: Validated) -> tuple[Validated, Found]:
    """The files without contradictions, and the findings on the other files."""
    left_out: list[Finding] = []
    while found := list(_contradictions(files)):
        left_out += found
        wrong = {finding.file for finding in found}
        files = replace(
            files,
            submissions=[each for each in files.submissions if str(each.source.path) not in wrong],
            lifecycle=[each for each in files.lifecycle if str(each.source.path) not in wrong],
        )
    return files, tuple(left_out)


def _contradictions(files: Validated) -> Iterator[Finding]:
    """Findings on contradictions between files in the collection; previews are ignored."""
    members = [accepted for accepted in files.submissions if accepted.source.place == "corpus"]
    by_name = {accepted.source.path.name: accepted.submission for accepted in members}
    sound: dict[str, Submission] = {}
    for accepted in members:
        file = str(accepted.source.path)
        found = superseding_finding(file, accepted.submission, by_name)
        if found is None:
            sound[file] = accepted.submission
        else:
            yield found
    yield from twice_superseded(sound, {})
    yield from misnamed_entries([str(entry.source.path) for entry in files.lifecycle], by_name)


def superseding_finding(
    file: str, new: Submission, collection: Mapping[str, Submission]
) -> Finding | None:
    """The finding if a result may not supersede the result that it names; else `None`.

    `collection` has the existing results by name.
    """
    name = new.supersedes
    if name is None:
        return None
    old = collection.get(name)
    if old is None:
        message = (
            f"{name} is not in results/community/; name a result from that folder, or leave "
            "the field out"
        )
        return _finding(file, "superseding-unknown", message)
    # GitHub user names ignore upper and lower case. Nobody can replace an anonymous result.
    if old.contributor is None or (new.contributor or "").lower() != old.contributor.lower():
        message = (
            f"{name} is by {old.contributor or 'nobody (anonymous)'}; only the contributor of a "
            "result may replace it, so leave the field out, or open an issue to have it withdrawn"
        )
        return _finding(file, "superseding-contributor", message)
    return None


def twice_superseded(
    new: Mapping[str, Submission], replaced_by: Mapping[str, str]
) -> Iterator[Finding]:
    """Findings on results that replace a result that has already been replaced.

    `new` are submissions by path; `replaced_by` maps names in the collection to their replacements.
    """
    taken = dict(replaced_by)
    for path, submission in sorted(new.items()):
        old = submission.supersedes
        name = path.rpartition("/")[2]
        if old is None or taken.setdefault(old, name) == name:
            continue
        message = f"{old} is already superseded by {taken[old]}; name {taken[old]} instead"
        yield _finding(path, "superseding-twice", message)


def misnamed_entries(entries: Iterable[str], results: Collection[str]) -> Iterator[Finding]:
    """Findings on lifecycle entries that name neither a contributor nor an existing result."""
    message = "there is no result with this name in results/community/; rename the entry"
    for path in entries:
        if Path(path).name not in results and contributor_of(Path(path).name) is None:
            yield Finding(file=path, path=ROOT, message=message, rule="lifecycle-name")


def contributors(entries: Iterable[tuple[str, str | bytes]], *, known: bool) -> dict[str, str]:
    """The contributors whom lifecycle entries mark as `known`, or else exclude, with the reasons.

    `entries` are names and texts of lifecycle files.
    """
    found = ((contributor_of(name), orjson.loads(text)) for name, text in entries)
    return {n: each["reason"] for n, each in found if n and (each["status"] == "known") is known}


def _finding(file: str, rule: str, message: str) -> Finding:
    return Finding(file=file, path="$.supersedes", message=message, rule=rule)
