"""Give each weights file the same name in all results; the file's SHA-256 identifies it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import orjson

from estimates.identity import identify
from pipeline.collection.plausibility.corpus import CorpusEntry, account_of
from schemas.submission import Model, Submission
from schemas.vocabulary import WEIGHTS

Name: TypeAlias = tuple[str, str]  # name and quantisation


class Stated(Protocol):
    """Anything that names models and a contributor: a submission, or an extract from it."""

    @property
    def contributor(self) -> str | None: ...
    @property
    def target(self) -> Model: ...
    @property
    def drafts(self) -> tuple[Model, ...]: ...


def names_of(submissions: Sequence[Stated], known: Collection[str] = ()) -> Mapping[str, Name]:
    """The name and quantisation for each digest: the preset's, else the most common.

    Each account has one vote, but if accounts in `known` name a file, only they vote. Accounts that
    measured a model take precedence over accounts that drafted with it. In a tie, the first name
    wins.
    """
    drafted = _given(((each, each.drafts) for each in submissions), known)
    measured = _given(((each, (each.target,)) for each in submissions), known)
    presets = {each.id: (each.name, each.quantisation) for each in WEIGHTS.values()}
    return {**drafted, **measured, **presets}


def _given(
    named: Iterable[tuple[Stated, Iterable[Model]]], known: Collection[str]
) -> Mapping[str, Name]:
    """The name that most accounts give each digest; an account votes for the first name it gave."""
    voices: dict[str, dict[str, Name]] = {}
    for submission, models in named:
        for model in models:
            if model.sha256 is not None:
                own = voices.setdefault(model.sha256, {})
                own.setdefault(account_of(submission.contributor), (model.name, model.quantisation))
    names: dict[str, Name] = {}
    for digest, own in voices.items():
        deciding = [name for account, name in own.items() if account in known]
        ((names[digest], _),) = Counter(deciding or own.values()).most_common(1)
    return names


def renamed(entry: CorpusEntry, names: Mapping[str, Name]) -> CorpusEntry:
    """A submission's entry with its models renamed by `names`, which maps file digests to names."""
    stated = entry.submission
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
    target = identity.target, identity.quantisation
    return replace(
        entry,
        submission=submission,
        identity=replace(identity, settings=settings),
        speed=entry.speed and replace(entry.speed, target=target),
    )


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
