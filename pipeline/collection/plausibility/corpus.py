"""Hold the submissions that a new one is compared with, and indices for fast comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self, TypeAlias

from estimates.identity import Identity, engine_group, identify
from estimates.voices import AGREEING
from pipeline.collection.plausibility.arm_outputs import ArmOutputs, Outputs, by_arm, outputs_of
from pipeline.collection.plausibility.fingerprint import Index, Marks, indices, marks_of
from schemas.submission import Submission
from schemas.vocabulary.flags import Severity

# Facts that are equal in all files of a model, if a file states them.
SHAPE = ("architecture", "layers", "vocabulary_size")
Shape: TypeAlias = tuple[str | int | None, ...]
ANONYMOUS = "anonymous"


def account_of(contributor: str | None) -> str:
    """The account to which a file's vote belongs; accounts are harder to fake than machines.

    All anonymous results share one account. Upper and lower case in user names are not
    distinguished.
    """
    return (contributor or ANONYMOUS).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEntry:
    """A submission with values for comparisons, so that its trials need not stay in memory.

    `digest` is that of the content, `key` that of the file's bytes and name.
    """

    submission: Submission
    identity: Identity
    marks: Marks
    outputs: Outputs
    digest: str | None = None
    key: str = ""

    @classmethod
    def of(cls, submission: Submission) -> Self:
        named = identify(submission)
        return cls(
            submission=submission,
            identity=named,
            marks=marks_of(submission.trials),
            outputs=outputs_of(submission),
        )

    @property
    def account(self) -> str:
        return account_of(self.submission.contributor)

    @property
    def group(self) -> tuple[str, str]:
        return engine_group(self.submission.engine)

    @property
    def shape(self) -> Shape:
        """The target's architecture, which its quantisation does not change."""
        return tuple(getattr(self.submission.target, fact) for fact in SHAPE)

    def runs(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """For each arm, a key of all names that determine its answers, and the arm's position."""
        named, own = self.identity, self.submission
        target = named.target, named.quantisation, named.conditions, named.engine_label
        limit = own.settings.max_output_tokens
        for place, arm in enumerate(named.settings):
            yield (*map(str, (*target, limit)), arm.setting), place

    @property
    def name(self) -> str:
        """The submission's name in messages: target, device, contributor and day."""
        own = self.submission
        return (
            f"{own.target.name} {own.target.quantisation} on {self.identity.device_label} "
            f"({own.contributor or 'anonymous'}, {own.measured_from[:10]})"
        )


@dataclass(frozen=True)
class Corpus:
    """Submissions, with indices for the checks; maintainers know the accounts in `known`."""

    entries: tuple[CorpusEntry, ...]
    known: frozenset[str] = field(default=frozenset())

    @classmethod
    def of(cls, submissions: Sequence[Submission], known: frozenset[str] = frozenset()) -> Self:
        return cls(tuple(map(CorpusEntry.of, submissions)), known)

    @cached_property
    def marks(self) -> dict[str, Index]:
        """Indices of the marks that several of the submissions have."""
        return indices([each.marks for each in self.entries], fewest=2)

    @cached_property
    def shapes(self) -> dict[str, dict[Shape, dict[str, int]]]:
        """Each account's first submission, as a position, by target and architecture."""
        found: dict[str, dict[Shape, dict[str, int]]] = {}
        for position, each in enumerate(self.entries):
            accounts = found.setdefault(each.identity.target, {}).setdefault(each.shape, {})
            accounts.setdefault(each.account, position)
        return found

    @cached_property
    def runs(self) -> dict[tuple[str, ...], dict[tuple[str, ...], tuple[int, int]]]:
        """By arm key, and by account and group: the positions of the first entry and of its arm.

        An arm key with a group added leads to the results of that group only. Known accounts come
        first.
        """
        found: dict[tuple[str, ...], dict[tuple[str, ...], tuple[int, int]]] = {}
        for position, each in enumerate(self.entries):
            group = each.group
            sender = each.account, *group
            for run, place in each.runs():
                for key in (run, (*run, *group)):
                    found.setdefault(key, {}).setdefault(sender, (position, place))
        return {
            run: dict(sorted(first.items(), key=lambda each: each[0][0] not in self.known))
            for run, first in found.items()
        }

    @cached_property
    def outputs(self) -> list[dict[int, ArmOutputs]]:
        return [by_arm(each.outputs) for each in self.entries]

    @cached_property
    def weights(self) -> list[dict[tuple[str, str], str]]:
        """The digests that each submission states, by name and quantisation of the model."""
        models = [(each.submission.target, *each.submission.drafts) for each in self.entries]
        return [{(m.name, m.quantisation): m.sha256 for m in own if m.sha256} for own in models]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusComparison:
    """A submission, its position in a corpus, and that corpus."""

    own: CorpusEntry
    corpus: Corpus
    position: int

    def outvoted(
        self, alike: set[str], differing: Mapping[str, int]
    ) -> tuple[Severity, int] | None:
        """The severity of other accounts' disagreement, and the position of the first of them.

        `None` if nobody disagrees whose voice counts. Disagreement is serious if more known
        accounts disagree than agree. Both sides get a caution if as many known accounts disagree as
        agree, if no account is known, or if one known account is against `AGREEING` unknown ones.
        """
        own = self.own.account
        agreeing = alike | {own}
        against = differing.keys() - agreeing - (set() if own == ANONYMOUS else {own})
        known, known_against = self.corpus.known & agreeing, self.corpus.known & against
        first = min((differing[each] for each in known_against or against), default=None)
        sides = len(known_against), len(known)
        unknown = {1: agreeing, -1: against}.get(sides[0] - sides[1], set())
        contested = min(sides) == 0 and len(unknown - self.corpus.known - {ANONYMOUS}) >= AGREEING
        if first is None or (sides[0] < sides[1] and not contested):
            return None
        return "serious" if sides[0] > sides[1] and not contested else "caution", first

    def same_weights(self, position: int) -> bool:
        """Whether models that both submissions name have equal digests, if both state digests."""
        here, there = self.corpus.weights[self.position], self.corpus.weights[position]
        return all(there.get(name, digest) == digest for name, digest in here.items())
