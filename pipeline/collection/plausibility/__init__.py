"""Raise the flags that need a comparison with the rest of the corpus. Flags never reject."""

from collections.abc import Callable, Iterator
from itertools import islice
from operator import itemgetter

from estimates.flags import in_order
from estimates.flags.observation import Observation, bounds, flag
from estimates.model import Flag
from pipeline.collection.plausibility.arm_outputs import OutputAgreement, agreement
from pipeline.collection.plausibility.corpus import (
    ANONYMOUS,
    SHAPE,
    Corpus,
    CorpusComparison,
)
from schemas.vocabulary.flags import Severity

UNLIKE = bounds("unlike-peers")
MOST_PEERS = 16  # the maximum number of accounts that one arm is compared with


def flags_within(corpus: Corpus) -> Iterator[tuple[Flag, ...]]:
    """The flags on each submission of a corpus, in order; each is compared with all others."""
    for position, own in enumerate(corpus.entries):
        candidate = CorpusComparison(own=own, corpus=corpus, position=position)
        found = [(name, check(candidate)) for name, check in CORPUS_FLAGS.items()]
        yield in_order(flag(name, what) for name, what in found if what is not None)


def copied_times(candidate: CorpusComparison) -> Observation | None:
    """Another submission has the same times, to many digits, or the same scatter.

    The message names the submission that shares the most of the first of these.
    """
    own, entries = candidate.own, candidate.corpus.entries
    for kind, index in candidate.corpus.marks.items():
        copies = [copy for copy in index.copies(own.marks[kind]) if copy[0] != candidate.position]
        if copies:  # the earliest of those that share the most
            position, shared, total = max(copies, key=itemgetter(1))
            return Observation(
                severity=_severity(candidate, position),
                case=kind.partition(" ")[0],
                counts=f"{shared} of {total}",
                other=entries[position].name,
            )
    return None


def _severity(candidate: CorpusComparison, position: int) -> Severity:
    """The severity of a copied-times flag: serious for the copy, caution for the original.

    If one account sent both, the later result is the copy. If only one
    account is known to maintainers, the other account's result is. Otherwise both get a serious
    flag until a lifecycle entry ends one of them, because anybody can state an earlier date.
    """
    own, other, known = candidate.own, candidate.corpus.entries[position], candidate.corpus.known
    if own.account != other.account or own.account == ANONYMOUS:
        return "caution" if own.account in known and other.account not in known else "serious"
    own_date, other_date = own.submission.measured_from, other.submission.measured_from
    is_first = (own_date, candidate.position) < (other_date, position)
    return "caution" if is_first else "serious"


def another_model(candidate: CorpusComparison) -> Observation | None:
    """Other accounts measured a model with a different architecture under this target's name.

    Quantisers make many files of one model, so digests of the weights differ between honest
    results. But the number of layers, the vocabulary and the architecture are the same in all these
    files.
    """
    shape, named = candidate.own.shape, candidate.own.identity
    alike, differing, facts = set[str](), dict[str, int](), dict[int, str]()
    for other, accounts in candidate.corpus.shapes.get(named.target, {}).items():
        # The first fact for which both state different values.
        stated = zip(SHAPE, shape, other, strict=True)
        fact = next((fact for fact, a, b in stated if None not in (a, b) and a != b), None)
        if fact is not None:
            differing |= {**accounts, **differing}
            facts |= dict.fromkeys(accounts.values(), fact)
        elif any(part is not None for part in other):
            alike |= accounts.keys()
    found = candidate.outvoted(alike, differing)
    if found is None:
        return None
    severity, position = found
    fact, other_entry = facts[position], candidate.corpus.entries[position]
    here, there = candidate.own.submission.target, other_entry.submission.target
    return Observation(
        severity=severity,
        fact=fact.replace("_", " "),
        own=getattr(here, fact),
        other=other_entry.name,
        others=getattr(there, fact),
    )


def unlike_peers(candidate: CorpusComparison) -> Observation | None:
    """Other accounts got different answers or round counts with the same models and engine build.

    Only arms with equal weights, settings, backend and common prompts are compared.
    """
    own = candidate.own
    alike, seen = set[str](), dict[int, Observation]()
    differing = dict[str, int]()
    group = own.group
    for run, place in own.runs():
        for account, position, unlike in _peers(candidate, (*run, *group), place):
            if unlike is None:
                alike.add(account)
            else:
                differing.setdefault(account, position)
                seen.setdefault(position, unlike)
    outvoted = candidate.outvoted(alike - differing.keys(), differing)
    if outvoted is None:
        return None
    observation = seen[outvoted[1]]
    observation.severity = outvoted[0]
    return observation


def unconfirmed(candidate: CorpusComparison) -> Observation | None:
    """No other account has the engine build and backend, and all other groups' results differ.

    The difference may be the engine's or an error, so it counts once a second account has it.
    """
    own, entries = candidate.own, candidate.corpus.entries
    engine = own.group
    for run, place in own.runs():
        group = candidate.corpus.runs.get((*run, *engine), {})
        if any(
            account != own.account and candidate.same_weights(position)
            for (account, *_), (position, _) in group.items()
        ):
            continue
        others = list(_peers(candidate, run, place))
        agrees = any(unlike is None for *_, unlike in others)
        outvoted = candidate.outvoted(set(), {} if agrees else {a: at for a, at, _ in others})
        if outvoted is not None:
            backend, build = entries[outvoted[1]].group
            name = entries[outvoted[1]].name
            return Observation(other=name, backend=backend, build=build)
    return None


def _peers(
    candidate: CorpusComparison, key: tuple[str, ...], place: int
) -> Iterator[tuple[str, int, Observation | None]]:
    """Each other account's first result with an arm: account, position, and their difference."""
    own, corpus = candidate.own, candidate.corpus
    mine = corpus.outputs[candidate.position].get(place)
    if mine is None:
        return
    for (account, *_), (position, other) in islice(corpus.runs.get(key, {}).items(), MOST_PEERS):
        there, theirs = corpus.entries[position], corpus.outputs[position].get(other)
        if theirs is None or account == own.account or not candidate.same_weights(position):
            continue
        found = agreement(mine, theirs)
        if found is not None:
            case = _unlike(found)
            values = found._asdict()
            unlike = None if case is None else Observation(case=case, other=there.name, **values)
            yield account, position, unlike


def _unlike(found: OutputAgreement) -> str | None:
    """The difference (`answers` or `rounds`) between two arms that should agree; `None` if none."""
    enough = UNLIKE["fewest"]
    if found.equal >= enough and found.factor_equal > 1 + UNLIKE["apart"]:
        return "rounds"
    if found.prompts < enough or (found.equal and found.factor_all <= 1 + UNLIKE["apart_of_all"]):
        return None
    return "rounds" if found.equal else "answers"


CORPUS_FLAGS: dict[str, Callable[[CorpusComparison], Observation | None]] = {
    "copied-times": copied_times,
    "another-model": another_model,
    "unlike-peers": unlike_peers,
    "unconfirmed": unconfirmed,
}
