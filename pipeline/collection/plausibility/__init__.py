"""Flags that only the comparison with the rest of the corpus can raise.

Flags, never rejections: an honest result may look odd, and its readers should know why. To add one:
write the function, give it a line here, and add to the tests one corpus that raises it and one that
does not. Flags that a single file can raise live in `estimates.flags`.
"""

from collections.abc import Callable, Iterator, Sequence

from estimates.flags import in_order
from estimates.identity import identify
from estimates.model import Flag
from pipeline.collection.plausibility import checks
from pipeline.collection.plausibility.corpus import Corpus, Print, Question
from pipeline.collection.plausibility.peers import pace
from pipeline.collection.plausibility.traces import trace
from schemas.submission import Submission

Check = Callable[[Question], Flag | None]

CORPUS_FLAGS: dict[str, Check] = {
    "copied-times": checks.copied_times,
    "copied-noise": checks.copied_noise,
    "windows-overlap": checks.windows_overlap,
    "far-from-peers": checks.far_from_peers,
    "another-model": checks.another_model,
}


def corpus_flags(new: Submission, corpus: Sequence[Submission] | Corpus) -> tuple[Flag, ...]:
    """The flags of one new submission compared with a corpus that does not contain it.

    To ask about several, pass a `Corpus`, which keeps its indices.
    """
    known = corpus if isinstance(corpus, Corpus) else Corpus(tuple(corpus))
    own, named = trace(new), identify(new)
    (alike,) = known.alike([own])
    return _raised(
        Question(
            submission=new,
            identity=named,
            trace=own,
            pace=pace(new, named),
            corpus=known,
            alike=alike,
            itself=None,
        )
    )


def flags_within(
    submissions: Sequence[Submission], prints: Sequence[Print] = ()
) -> Iterator[tuple[Flag, ...]]:
    """The flags of each submission of a corpus compared with all the others, in their order.

    With their `prints` the submissions need no trials.
    """
    corpus = Corpus(tuple(submissions), tuple(prints))
    for position, alike in enumerate(corpus.alike(corpus.traces)):
        yield _raised(
            Question(
                submission=corpus.submissions[position],
                identity=corpus.identities[position],
                trace=corpus.traces[position],
                pace=corpus.paces[position],
                corpus=corpus,
                alike=alike,
                itself=position,
            )
        )


def _raised(question: Question) -> tuple[Flag, ...]:
    return in_order(flag for check in CORPUS_FLAGS.values() if (flag := check(question)))
