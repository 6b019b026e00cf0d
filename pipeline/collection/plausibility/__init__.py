"""What does the corpus say about a submission that the submission cannot say about itself?

Flags, never rejections: an honest result may look odd, and who reads it should know why. To add
one: write the function, give it a line here, and add to the tests one corpus that raises it and
one that does not. Flags that a single file can raise live in `estimates.flags`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from estimates.flags import in_order
from pipeline.collection.plausibility import copies, peers, windows
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.collection.plausibility.peers import pace
from pipeline.collection.plausibility.question import Question
from pipeline.collection.plausibility.traces import trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from estimates.model import Flag
    from schemas.submission import Submission


if TYPE_CHECKING:
    Check = Callable[[Question], Flag | None]

CORPUS_FLAGS: dict[str, Check] = {
    "copied-times": copies.copied_times,
    "copied-noise": copies.copied_noise,
    "windows-overlap": windows.windows_overlap,
    "far-from-peers": peers.far_from_peers,
}


def corpus_flags(new: Submission, corpus: Sequence[Submission] | Corpus) -> tuple[Flag, ...]:
    """The flags of one new submission before a corpus that does not hold it.

    Who asks about several hands over a `Corpus`, which keeps its index.
    """
    known = corpus if isinstance(corpus, Corpus) else Corpus(tuple(corpus))
    own = trace(new)
    (alike,) = known.alike([own])
    return _raised(
        Question(submission=new, trace=own, pace=pace(new), corpus=known, alike=alike, itself=None)
    )


def flags_within(submissions: Sequence[Submission]) -> Iterator[tuple[Flag, ...]]:
    """The flags of each submission of a corpus before all the others, in their order."""
    corpus = Corpus(tuple(submissions))
    for position, alike in enumerate(corpus.alike(corpus.traces)):
        yield _raised(
            Question(
                submission=corpus.submissions[position],
                trace=corpus.traces[position],
                pace=corpus.paces[position],
                corpus=corpus,
                alike=alike,
                itself=position,
            )
        )


def _raised(question: Question) -> tuple[Flag, ...]:
    return in_order(flag for check in CORPUS_FLAGS.values() if (flag := check(question)))
