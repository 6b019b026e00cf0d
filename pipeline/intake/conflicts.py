"""Refuse new results that conflict with the collection on the base branch.

These are results of contributors whom maintainers excluded, copies of withdrawn results, and
results whose times or imports conflict with those of other accounts. A copy under a
different name, day or machine has the same times; a new measurement does not. Results on the base
branch came first, whatever date a file states.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from pipeline.collection import lifecycle
from pipeline.collection.plausibility.corpus import ANONYMOUS, account_of
from pipeline.collection.plausibility.fingerprint import Index, indices, marks_of
from pipeline.collection.validation import contributor_of
from pipeline.collection.weight_names import Name, names_given, names_of
from pipeline.intake import git
from pipeline.intake.paths import FOLDER, LIFECYCLE
from schemas import contract
from schemas.codec import slug
from schemas.finding import ROOT, Finding, in_file, shown
from schemas.rules.contradictions import models_of
from schemas.submission import Model, Origin, Submission, Trial
from schemas.validator import LIFECYCLE_SCHEMA
from schemas.vocabulary import model_name

# The rule of findings that ask the maintainers something and refuse nothing.
NAMED_OTHERWISE = "named-otherwise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawals:
    """The withdrawn results and the excluded contributors at a revision.

    `results` are file names; `contributors` maps a user name to the reason. `known` are the
    contributors that lifecycle entries mark as known.
    """

    results: frozenset[str] = frozenset()
    contributors: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()

    def has(self, name: str, contributor: str | None) -> bool:
        """Whether a result has ended: it was withdrawn, or its contributor is excluded."""
        return name in self.results or account_of(contributor) in self.contributors


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
        contributors=lifecycle.contributors(texts, known=False),
        known=frozenset(lifecycle.contributors(texts, known=True)),
    )


def is_new(repository: Path, revision: str, author: str | None) -> bool:
    """Whether an author has no lifecycle entry yet; a new author cannot confirm a cell."""
    name = f"contributor--{(author or '').lower()}.json"
    return author is not None and name not in git.files(repository, revision, LIFECYCLE)


def base_findings(
    repository: Path, base: str, new: Mapping[str, Submission], author: str | None
) -> Iterator[Finding]:
    """Findings from comparing new results with `base`. Raises `GitError` if git cannot answer."""
    ended = withdrawals(repository, base)
    if not new:
        return
    for path, each in new.items():
        yield from in_file(_by_ended(each, author, ended.contributors), path)
    listed = git.contents(repository, git.files(repository, base, FOLDER))
    yield from claim_findings(new, _outlines(listed), ended)


def _outlines(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, "Outline"]]:
    """The results by name, without those that the build will report as unreadable."""
    for name, data in files:
        with suppress(msgspec.DecodeError):
            yield name, msgspec.json.decode(data, type=Outline)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The fields of an existing result that the checks need; the result is not validated again."""

    target: Model
    trials: tuple[Trial, ...]
    contributor: str | None = None
    origin: Origin | None = None


def claim_findings(
    new: Mapping[str, Submission], there: Iterable[tuple[str, Outline]], ended: Withdrawals
) -> Iterator[Finding]:
    """Findings from comparing new results (by path) with results on the base (by name)."""
    own_marks = indices([marks_of(each.trials) for each in new.values()])
    outlines: list[Outline] = []
    for name, each in there:
        has_ended = ended.has(name, each.contributor)
        yield from _copied(new, own_marks, name, each, has_ended=has_ended)
        if not has_ended:
            outlines.append(replace(each, trials=()))
    for path, own in new.items():
        others = _others(own, outlines)
        # Imports from a listed original count as known, and anybody can state the original's
        # digest.
        if own.origin and own.origin.sha256 in {
            each.origin and each.origin.sha256 for each in others
        }:
            message = (
                "the collection already has results from these original records; open an issue "
                "to add more"
            )
            place = "$.origin.sha256"
            yield Finding(file=path, path=place, message=message, rule="known-original")
        yield from _named_otherwise(path, own, others, ended.known)


def _others(own: Submission, there: Sequence[Outline]) -> list[Outline]:
    """The existing results from other accounts; for an anonymous result, all existing results."""
    account = account_of(own.contributor)
    return [
        each for each in there if account == ANONYMOUS or account_of(each.contributor) != account
    ]


def _copied(
    new: Mapping[str, Submission],
    marks: Mapping[str, Index],
    name: str,
    there: Outline,
    *,
    has_ended: bool,
) -> Iterator[Finding]:
    """Findings on new results, with these marks, whose times are copied from one on the base.

    A result that has ended must not come back, even from the same account or as a replacement.
    """
    old = marks_of(there.trials)
    found = {at for kind, index in marks.items() for at, *_ in index.copies(old[kind])}
    rule, rest = (
        ("ended-result", "that result has ended; measure again, or open an issue to contest it")
        if has_ended
        else ("copied-times", "send your own times, or open an issue if both results are yours")
    )
    by = there.contributor or ANONYMOUS
    message = f"the result's times equal those of {name} by {by}, or scatter like them; {rest}"
    for path, each in (list(new.items())[position] for position in sorted(found)):
        if has_ended or _others(each, [there]):
            yield Finding(file=path, path=ROOT, message=message, rule=rule)


def _named_otherwise(
    path: str, new: Submission, there: Sequence[Outline], known: Collection[str]
) -> Iterator[Finding]:
    """Questions about weights for which other accounts' results have a different name.

    They refuse nothing, because the earlier name may be the wrong one.
    """
    named, given = names_of(there, known), names_given(there)
    for place, model in models_of(new):
        digest, own = model.sha256 or "", (model.name, model.quantisation)
        names = [named[digest]] if digest in named else sorted({*given.get(digest, {}).values()})
        if names and _key(own) not in map(_key, names):
            message = (
                f"the file calls these weights {shown(' '.join(own))}, the collection "
                f"{shown(' '.join(names[0]))}; which name did the publisher give?"
            )
            yield Finding(file=path, path=f"{place}.name", message=message, rule=NAMED_OTHERWISE)


def _key(name: Name) -> tuple[str, str]:
    return slug(model_name(name[0]), limit=None), slug(name[1], limit=None)
