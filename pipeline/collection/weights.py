"""Choose one name for each weights file; the file's SHA-256 identifies it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from pipeline.collection.plausibility.corpus import account_of
from schemas.submission import Model
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
