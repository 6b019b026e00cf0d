"""Refuse new results whose times, names or imports conflict with those of other accounts.

Results on the base branch came first, whatever date a file states.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from pipeline.collection.plausibility.corpus import ANONYMOUS, account_of
from pipeline.collection.plausibility.fingerprint import MarkIndex, marks_of
from pipeline.collection.weight_names import Name, names_of
from pipeline.intake import git
from pipeline.intake.withdrawals import FOLDER, withdrawals
from schemas.codec import slug
from schemas.finding import ROOT, Finding, shown
from schemas.letters import skeleton
from schemas.submission import Machine, Model, Origin, Submission, Trial
from schemas.vocabulary import model_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The fields of an existing result that the checks need; the result is not validated again."""

    target: Model
    drafts: tuple[Model, ...]
    machine: Machine
    trials: tuple[Trial, ...]
    contributor: str | None = None
    origin: Origin | None = None


def claim_findings(
    new: Mapping[str, Submission], there: Iterable[tuple[str, Outline]], known: Collection[str]
) -> Iterator[Finding]:
    """Findings from comparing new results (by path) with results on the base (by name).

    `known` are the accounts that lifecycle entries mark as known.
    """
    indices = MarkIndex.of_kinds([marks_of(each.trials) for each in new.values()])
    outlines: list[Outline] = []
    for name, each in there:
        yield from _copied(new, indices, name, each)
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
        yield from _renamed(path, own, names_of(others, known))
    yield from _twins(new, outlines)


def base_claims(repository: Path, base: str, new: Mapping[str, Submission]) -> Iterator[Finding]:
    """Findings from comparing new results with `base`. Raises `GitError` if git cannot answer."""
    if not new:
        return
    ended = withdrawals(repository, base)
    counting = (
        (name, each)
        for name, each in _outlines(repository, base)
        if name not in ended.results and account_of(each.contributor) not in ended.contributors
    )
    yield from claim_findings(new, counting, ended.known)


def _outlines(repository: Path, base: str) -> Iterator[tuple[str, Outline]]:
    for name, data in git.contents(repository, git.files(repository, base, FOLDER)):
        with suppress(msgspec.DecodeError):  # the build reports the fault
            yield name, msgspec.json.decode(data, type=Outline)


def _others(own: Submission, there: Sequence[Outline]) -> list[Outline]:
    """The existing results from other accounts; for an anonymous result, all existing results."""
    account = account_of(own.contributor)
    return [
        each for each in there if account == ANONYMOUS or account_of(each.contributor) != account
    ]


def _copied(
    new: Mapping[str, Submission], indices: Mapping[str, MarkIndex], name: str, there: Outline
) -> Iterator[Finding]:
    """Findings on new results whose times are copied, or multiplied, from one on the base.

    `indices` are of the new results' marks.
    """
    old = marks_of(there.trials)
    found = {at for kind, index in indices.items() for at, *_ in index.copies(old[kind])}
    for path, each in (list(new.items())[position] for position in sorted(found)):
        if _others(each, [there]):
            message = (
                f"the result's times equal those of {name} by "
                f"{there.contributor or ANONYMOUS}, or are a multiple of them; send your own "
                "times, or open an issue if both results are yours"
            )
            yield Finding(file=path, path=ROOT, message=message, rule="copied-times")


def _models(of: Submission | Outline) -> Iterator[tuple[str, Model]]:
    yield "$.target", of.target
    yield from ((f"$.drafts[{at}]", each) for at, each in enumerate(of.drafts))


def _renamed(path: str, new: Submission, names: Mapping[str, Name]) -> Iterator[Finding]:
    """Findings on weights whose name differs from the collection's name for the same SHA-256."""
    for place, model in _models(new):
        name = names.get(model.sha256 or "", (model.name, model.quantisation))
        if _key(*name) != _key(model.name, model.quantisation):
            message = (
                f"weights with this SHA-256 are called {shown(' '.join(name))} in the collection, "
                f"not {shown(f'{model.name} {model.quantisation}')}; write the collection's name "
                "and quantisation into the file, and submit the file again"
            )
            yield Finding(file=path, path=f"{place}.name", message=message, rule="known-weights")


def _key(name: str, quantisation: str) -> tuple[str, str]:
    return slug(model_name(name), limit=None), slug(quantisation, limit=None)


def _twins(new: Mapping[str, Submission], there: Sequence[Outline]) -> Iterator[Finding]:
    """Findings on model and device names that look like an earlier, differently spelled name."""
    seen: dict[str, str] = {}
    for each in there:
        for _, name in _names(each):
            seen.setdefault(skeleton(name), name)
    for path, own in new.items():
        for place, name in _names(own):
            twin = seen.setdefault(skeleton(name), name)
            if slug(twin, limit=None) != slug(name, limit=None):
                message = f"{shown(name)} looks like {shown(twin)}; use the spelling {shown(twin)}"
                yield Finding(file=path, path=place, message=message, rule="name-twin")


def _names(of: Submission | Outline) -> Iterator[tuple[str, str]]:
    for place, model in _models(of):
        yield f"{place}.name", model.name
        yield f"{place}.quantisation", model.quantisation
    if of.machine.cpu.name is not None:
        yield "$.machine.cpu.name", of.machine.cpu.name
    for at, card in enumerate(of.machine.gpus):
        yield f"$.machine.gpus[{at}].name", card.name
