"""Give each weights file the same name in all results; the file's SHA-256 identifies it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import orjson

from estimates.identity import identify
from estimates.voices import AGREEING
from pipeline.collection.plausibility.corpus import ANONYMOUS, CorpusEntry, account_of
from schemas.submission import Model, Submission
from schemas.vocabulary import WEIGHTS

Name: TypeAlias = tuple[str, str]  # name and quantisation


class Stated(Protocol):
    """Anything that names models and a contributor: a submission, or an extract from it."""

    @property
    def contributor(self) -> str | None: ...
    @property
    def target(self) -> Model: ...


def names_of(submissions: Sequence[Stated], known: Collection[str] = ()) -> Mapping[str, Name]:
    """The name and quantisation for each digest: the preset's, else the one that people agree on.

    Only accounts that measured a file as a target have a vote. If accounts in `known` name the
    file, the name that most of them give is its name; otherwise at least `AGREEING` accounts must
    give the same name. A tie names nothing, because nobody may decide by coming first. A digest
    without a name keeps the name that each result states.
    """
    presets = {each.id: (each.name, each.quantisation) for each in WEIGHTS.values()}
    return {
        digest: name
        for digest, given in names_given(submissions).items()
        if (name := _agreed(given, known)) is not None
    } | presets


def names_given(submissions: Iterable[Stated]) -> dict[str, dict[str, Name]]:
    """The name that each account gives each file that it measured as a target, by digest."""
    given: dict[str, dict[str, Name]] = {}
    for each in submissions:
        if each.target.sha256 is not None:
            own = given.setdefault(each.target.sha256, {})
            own[account_of(each.contributor)] = (each.target.name, each.target.quantisation)
    return given


def _agreed(given: Mapping[str, Name], known: Collection[str]) -> Name | None:
    deciding = [name for account, name in given.items() if account in known]
    fewest = 1 if deciding else AGREEING
    named = deciding or [name for account, name in given.items() if account != ANONYMOUS]
    ranked: list[tuple[Name | None, int]] = [*Counter(named).most_common(2), (None, 0), (None, 0)]
    (name, votes), (_, others) = ranked[:2]
    return name if votes >= fewest and votes > others else None


def renamed(entry: CorpusEntry, names: Mapping[str, Name]) -> CorpusEntry:
    """A submission's entry with its models renamed by `names`, which maps file digests to names."""
    stated = entry.submission
    if names.keys().isdisjoint(model.sha256 for model in (stated.target, *stated.drafts)):
        return entry
    drafts = tuple(_named(draft, names) for draft in stated.drafts)
    submission = replace(stated, target=_named(stated.target, names), drafts=drafts)
    if submission == stated:
        return entry
    identity = identify(submission)
    # The depths come from trials, which an entry no longer has.
    settings = tuple(
        replace(new, depths=old.depths)
        for new, old in zip(identity.settings, entry.identity.settings, strict=True)
    )
    return replace(entry, submission=submission, identity=replace(identity, settings=settings))


def renamed_text(text: str, submission: Submission) -> str:
    """A file's JSON text, with its models' names replaced by those in the submission."""
    document = orjson.loads(text)
    models = zip(
        (document["target"], *document["drafts"]),
        (submission.target, *submission.drafts),
        strict=True,
    )
    for stated, model in models:
        stated |= {"name": model.name, "quantisation": model.quantisation}
    return orjson.dumps(document).decode()


def _named(model: Model, names: Mapping[str, Name]) -> Model:
    name, quantisation = names.get(model.sha256 or "", (model.name, model.quantisation))
    return replace(model, name=name, quantisation=quantisation)
