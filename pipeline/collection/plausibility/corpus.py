"""The submissions that a new one is compared with, and the indices that make it quick."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self, TypeAlias

from estimates.identity import Identity, identify
from pipeline.collection.plausibility import peers
from pipeline.collection.plausibility.fingerprint import MarkIndex, TimingFingerprint
from pipeline.collection.plausibility.outputs import Outputs, outputs_of
from pipeline.collection.plausibility.supersedes import SupersedeChains
from schemas.submission import Submission
from schemas.vocabulary.flags import Severity

# What every file of a model states alike, where it states it.
SHAPE = ("architecture", "layers", "vocabulary_size")
Shape: TypeAlias = tuple[str | int | None, ...]
ANONYMOUS = "anonymous"


def account_of(contributor: str | None) -> str:
    """Whose voice a file is: machines can be made up, accounts less easily.

    Results without a name share one voice. User names are the same in any case of their letters.
    """
    return (contributor or ANONYMOUS).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEntry:
    """A submission with what comparisons need of it, so that it needs no trials."""

    submission: Submission
    identity: Identity
    fingerprint: TimingFingerprint
    speed: peers.BaselineSpeed | None
    outputs: Outputs
    digest: str | None = None

    @classmethod
    def of(cls, submission: Submission) -> Self:
        named = identify(submission)
        return cls(
            submission=submission,
            identity=named,
            fingerprint=TimingFingerprint.of(submission),
            speed=peers.BaselineSpeed.of(submission, named, account_of(submission.contributor)),
            outputs=outputs_of(submission),
        )

    @property
    def account(self) -> str:
        return account_of(self.submission.contributor)

    @property
    def shape(self) -> Shape:
        """How the target is built, which its quantisation does not change."""
        return tuple(getattr(self.submission.target, fact) for fact in SHAPE)

    def runs(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """What decides what each arm writes, as far as names tell it, and the place of the arm."""
        named, own = self.identity, self.submission
        target = named.target, named.quantisation, named.conditions, named.engine_label
        limit = own.settings.max_output_tokens
        for place, arm in enumerate(named.settings):
            yield (*map(str, (*target, limit)), arm.setting), place

    def same_weights(self, other: Self) -> bool:
        """Whether the digests of models with the same names agree, as far as both state them."""
        here, there = (
            {(model.name, model.quantisation): model.sha256 for model in (of.target, *of.drafts)}
            for of in (self.submission, other.submission)
        )
        pairs = ((here[each], there[each]) for each in here.keys() & there.keys())
        return all(None in pair or pair[0] == pair[1] for pair in pairs)

    @property
    def name(self) -> str:
        """How a message names it: what was measured on which device, by whom and when."""
        own = self.submission
        return (
            f"{own.target.name} {own.target.quantisation} on {self.identity.device_label} "
            f"({own.contributor or 'anonymous'}, {own.measured_from[:10]})"
        )


@dataclass(frozen=True)
class Corpus:
    """Submissions with the indices that the checks use; the accounts in `known` are known."""

    entries: tuple[CorpusEntry, ...]
    known: frozenset[str] = field(default=frozenset())

    @classmethod
    def of(cls, submissions: Sequence[Submission], known: frozenset[str] = frozenset()) -> Self:
        return cls(tuple(map(CorpusEntry.of, submissions)), known)

    @cached_property
    def times(self) -> MarkIndex:
        return MarkIndex.of([each.fingerprint.times for each in self.entries])

    @cached_property
    def ratios(self) -> MarkIndex:
        return MarkIndex.of([each.fingerprint.ratios for each in self.entries])

    @cached_property
    def shapes(self) -> dict[str, dict[Shape, dict[str, int]]]:
        """By target and shape: each account with the position of its first submission."""
        found: dict[str, dict[Shape, dict[str, int]]] = {}
        for position, each in enumerate(self.entries):
            accounts = found.setdefault(each.identity.target, {}).setdefault(each.shape, {})
            accounts.setdefault(each.account, position)
        return found

    @cached_property
    def runs(self) -> dict[tuple[str, ...], dict[str, tuple[int, int]]]:
        """By what decides an answer: each account's first result, with the place of its arm."""
        found: dict[tuple[str, ...], dict[str, tuple[int, int]]] = {}
        for position, each in enumerate(self.entries):
            for run, place in each.runs():
                found.setdefault(run, {}).setdefault(each.account, (position, place))
        return found

    @cached_property
    def speeds(self) -> dict[peers.Place, peers.PeerSpeeds]:
        """The speeds measured on each device, by target and over all targets."""
        return peers.peer_speeds(each.speed for each in self.entries)

    @cached_property
    def chains(self) -> SupersedeChains:
        submissions = [each.submission for each in self.entries]
        return SupersedeChains(submissions, [each.digest for each in self.entries])


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusComparison:
    """A submission that is compared with a corpus; `position` is its own there, if it has one."""

    own: CorpusEntry
    corpus: Corpus
    position: int | None

    def outvoted(
        self, alike: set[str], differing: Mapping[str, int]
    ) -> tuple[Severity, int] | None:
        """How serious it is that accounts differ in a fact of all, and where the first of them is.

        Known accounts decide, where there are any. What is new has no voice against what is there.
        Where as many agree as differ, a build cannot know who is right.
        """
        own, is_new = self.own.account, self.position is None
        agreeing = alike if is_new else alike | {own}
        against = differing.keys() - agreeing - (set() if own == ANONYMOUS else {own})
        voices = self.corpus.known & (agreeing | against | {own}) or agreeing | against
        first = min((differing[each] for each in against & voices), default=None)
        more = len(against & voices) - len(agreeing & voices)
        if first is None or more < 0 or (more == 0 and is_new):
            return None
        return "serious" if more else "caution", first

    def is_apart(self, position: int) -> bool:
        """Whether it is neither this submission nor one that this one corrects, or the reverse."""
        if position == self.position:
            return False
        chains = self.corpus.chains
        if position in chains.replaced_by(self.own.submission):
            return False
        return self.position not in chains.replaced_by(self.corpus.entries[position].submission)
