"""Raise the flags that need a comparison with the rest of the corpus. Flags never reject."""

from collections.abc import Callable, Iterator, Sequence

from estimates.flags import in_order
from estimates.flags.observation import Observation, flag
from estimates.model import Flag
from pipeline.collection.plausibility import checks
from pipeline.collection.plausibility.corpus import Corpus, CorpusComparison, CorpusEntry
from schemas.submission import Submission

Check = Callable[[CorpusComparison], Observation | None]

CORPUS_FLAGS: dict[str, Check] = {
    "copied-times": checks.copied_times,
    "far-from-peers": checks.far_from_peers,
    "another-model": checks.another_model,
    "unlike-peers": checks.unlike_peers,
}


def corpus_flags(new: Submission, corpus: Sequence[Submission] | Corpus) -> tuple[Flag, ...]:
    """The flags on a new submission, compared with a corpus that does not contain it."""
    known = corpus if isinstance(corpus, Corpus) else Corpus.of(corpus)
    return _raised(CorpusComparison(own=CorpusEntry.of(new), corpus=known, position=None))


def flags_within(corpus: Corpus) -> Iterator[tuple[Flag, ...]]:
    """The flags on each submission of a corpus, in order; each is compared with all others."""
    for position, own in enumerate(corpus.entries):
        yield _raised(CorpusComparison(own=own, corpus=corpus, position=position))


def _raised(candidate: CorpusComparison) -> tuple[Flag, ...]:
    found = ((name, check(candidate)) for name, check in CORPUS_FLAGS.items())
    return in_order(flag(name, what) for name, what in found if what is not None)
