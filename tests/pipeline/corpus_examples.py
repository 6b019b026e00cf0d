"""For each flag of the corpus, a submission that raises it and one that comes close.

Copies of one honest submission are made as a forger would: with other metadata, and with its times
unchanged, scaled, or in part.
"""

from collections.abc import Iterable
from dataclasses import replace

from estimates.model import Flag
from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus
from schemas.submission import Submission, Trial
from tests.samples import sample

HONEST = tuple(sample(seed=seed, contributor=f"c{seed}", blocks=3) for seed in range(1, 7))
VICTIM = HONEST[2]


def corpus_flags(
    new: Submission, others: Iterable[Submission], known: Iterable[str] = ()
) -> tuple[Flag, ...]:
    """The flags on a submission that arrives after these others; `known` are accounts."""
    *_, own = flags_within(Corpus.of((*others, new), frozenset(known)))
    return own


def copied(trials: tuple[Trial, ...] = VICTIM.trials) -> Submission:
    """A submission with another name, machine, target and day, and these trials."""
    other = sample(
        seed=9, contributor="eve", gpu="AMD Radeon RX 7900 XTX", parameters=3_000_000_000, blocks=3,
        day="2026-11-24",
    )  # fmt: skip
    return replace(other, trials=trials)


def scaled(factor: float) -> tuple[Trial, ...]:
    """The victim's trials, all times multiplied and written with three decimals."""
    return tuple(_times(each, factor) for each in VICTIM.trials)


def _times(each: Trial, factor: float) -> Trial:
    return replace(each, decode_ms=round((each.decode_ms or 0.0) * factor, 3))


def _layers(count: int | None) -> Submission:
    """A submission of somebody else under the target's name, with this many layers."""
    other = sample(seed=61, contributor="zoe")
    return replace(other, target=replace(other.target, layers=count, sha256="ee" * 32))


def answers(*, equal: int, rounds: float = 1.0) -> Submission:
    """A submission by somebody else with some of the others' 24 answers, in other rounds."""
    other = sample(seed=62, contributor="zoe")
    same = {prompt.id for prompt in other.suite.prompts[:equal]}
    trials = (
        replace(
            each,
            output_sha256=each.output_sha256 if each.prompt in same else "ab" * 8,
            rounds=round((each.rounds or 0) * rounds),
        )
        for each in other.trials
    )
    return replace(other, trials=tuple(trials))


def _built(rounds: float) -> Submission:
    """The others' answers in other rounds, by an engine build that nobody else has."""
    other = answers(equal=24, rounds=rounds)
    return replace(other, engine=replace(other.engine, build_number=20_000))


RAISING: dict[str, Submission] = {
    "copied-times": copied(),
    "another-model": _layers(33),
    "unlike-peers": answers(equal=0),
    "unconfirmed": _built(0.8),
}
QUIET: dict[str, Submission] = {
    # Seven of hundreds of times may coincide.
    "copied-times": copied(VICTIM.trials[:7] + sample(seed=8, blocks=3).trials[7:]),
    "another-model": _layers(None),
    "unlike-peers": answers(equal=1),
    "unconfirmed": _built(0.97),
}
