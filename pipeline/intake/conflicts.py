"""Refuse new results that conflict with the collection on the base branch.

These are results of contributors whom maintainers excluded, copies of withdrawn results, and
results whose times or imports conflict with those of other accounts. A copy under a
different name, day or machine has the same times; a new measurement does not. Results on the base
branch came first, whatever date a file states.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from pipeline.collection import lifecycle
from pipeline.collection.plausibility import corpus_flags
from pipeline.collection.plausibility.corpus import ANONYMOUS, Corpus, account_of
from pipeline.collection.plausibility.fingerprint import Index, indices, marks_of
from pipeline.collection.validation import contributor_of
from pipeline.collection.weight_names import Name, names_given, names_of
from pipeline.intake import git
from pipeline.intake.paths import FOLDER, LIFECYCLE, SOURCES
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
    there = _Base(withdrawals(repository, base), {each.supersedes for each in new.values()})
    if not new:
        return
    listed = git.contents(repository, git.files(repository, base, FOLDER))
    claims = list(claim_findings(new, there.counting(listed), there.ended.known))
    for path, each in new.items():
        if finding := lifecycle.superseding_finding(path, each, there.replaceable, author):
            yield finding
    yield from lifecycle.twice_superseded(new, there.replaced_by)
    gone = Corpus.of(there.gone)
    for path, each in new.items():
        yield from in_file(_by_ended(each, author, there.ended.contributors), path)
        yield from in_file(_copied_again(each, gone), path)
    yield from claims


def original_findings(
    repository: Path, base: str, new: Mapping[str, Submission]
) -> Iterator[Finding]:
    """Findings on imports from an original that the table of sources lists.

    They count like results of known contributors, and anybody can state the original's digest, so
    only maintainers add them. Raises `GitError` if git cannot answer.
    """
    folder, _, name = SOURCES.rpartition("/")
    blob = git.files(repository, base, folder).get(name)
    (table,) = [data for _, data in git.contents(repository, {name: blob})] if blob else [b""]
    for path, each in new.items():
        if each.origin and each.origin.sha256.encode() in table:
            message = (
                f"{SOURCES} lists this original, and only maintainers add results from it; open an "
                "issue, or ask for the label on-behalf"
            )
            place = "$.origin.sha256"
            yield Finding(file=path, path=place, message=message, rule="listed-original")


@dataclass(slots=True)
class _Base:
    """The results on the base branch that matter to new ones, filled while `counting` reads them.

    `replaceable` are the results that new ones name as `replaced`; `gone` are the withdrawn results
    and those of excluded contributors; `replaced_by` maps names to their replacements.
    """

    ended: Withdrawals
    replaced: set[str | None]
    replaceable: dict[str, Submission] = field(default_factory=dict)
    gone: list[Submission] = field(default_factory=list)
    replaced_by: dict[str, str] = field(default_factory=dict)

    def counting(self, files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, "Outline"]]:
        """The results that count, without those that the build will report as unreadable."""
        for name, data in files:
            try:
                outline = msgspec.json.decode(data, type=Outline)
            except msgspec.DecodeError:
                continue
            if outline.supersedes:
                self.replaced_by[outline.supersedes] = name
            account = account_of(outline.contributor)
            has_ended = name in self.ended.results or account in self.ended.contributors
            # A result that today's rules would refuse can neither be replaced nor be copied.
            whole = contract.read(data) if has_ended or name in self.replaced else None
            if isinstance(whole, Submission):
                self.gone += [whole] if has_ended else []
                self.replaceable |= {name: whole} if name in self.replaced else {}
            if not has_ended:
                yield name, outline


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The fields of an existing result that the checks need; the result is not validated again."""

    target: Model
    trials: tuple[Trial, ...]
    contributor: str | None = None
    origin: Origin | None = None
    supersedes: str | None = None


def claim_findings(
    new: Mapping[str, Submission], there: Iterable[tuple[str, Outline]], known: Collection[str]
) -> Iterator[Finding]:
    """Findings from comparing new results (by path) with results on the base (by name).

    `known` are the accounts that lifecycle entries mark as known.
    """
    own_marks = indices([marks_of(each.trials) for each in new.values()])
    outlines: list[Outline] = []
    for name, each in there:
        yield from _copied(new, own_marks, name, each)
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
        yield from _named_otherwise(path, own, others, known)


def _others(own: Submission, there: Sequence[Outline]) -> list[Outline]:
    """The existing results from other accounts; for an anonymous result, all existing results."""
    account = account_of(own.contributor)
    return [
        each for each in there if account == ANONYMOUS or account_of(each.contributor) != account
    ]


def _copied(
    new: Mapping[str, Submission], marks: Mapping[str, Index], name: str, there: Outline
) -> Iterator[Finding]:
    """Findings on new results, with these marks, whose times are copied from one on the base."""
    old = marks_of(there.trials)
    found = {at for kind, index in marks.items() for at, *_ in index.copies(old[kind])}
    for path, each in (list(new.items())[position] for position in sorted(found)):
        if _others(each, [there]):
            message = (
                f"the result's times equal those of {name} by "
                f"{there.contributor or ANONYMOUS}, or scatter like them; send your own "
                "times, or open an issue if both results are yours"
            )
            yield Finding(file=path, path=ROOT, message=message, rule="copied-times")


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
