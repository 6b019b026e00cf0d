"""Compare the results of a pull request with the most similar results in the collection.

Only the newest results are read, first those from the same machines, because there may be thousands
of files. An arm's neighbours have the same method and tier, and the same device and backend. If
there are none, they have a target of the same size class. Each result counts once, with its fastest
arm.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from statistics import median
from typing import Literal

from estimates.flags import in_order
from estimates.summary import summarize
from estimates.verdicts import after_flags
from pipeline.collection.plausibility import corpus_flags, flags_within
from pipeline.collection.plausibility.corpus import Corpus
from pipeline.intake import git
from pipeline.intake.conflicts import Withdrawals, withdrawals
from pipeline.intake.expectation import expectations
from pipeline.intake.gate import Judgement
from pipeline.intake.paths import FOLDER
from pipeline.intake.reply import Position, Reply, Result, reply
from pipeline.intake.submission_digest import ArmResult, Understanding, overall, understand
from schemas import contract
from schemas.finding import quoted_path
from schemas.submission import Submission

MAX_UNDERSTOOD = 10
MAX_SAME_MACHINE = 40
MAX_OTHERS = 40


def answer(repository: Path, judgement: Judgement) -> Reply:
    """The reply about a pull request, with descriptions of its results."""
    return reply(judgement, understood(repository, judgement))


def understood(repository: Path, judgement: Judgement) -> tuple[Result, ...]:
    """Describe each result of a pull request: content, flags, arm positions, expected answers."""
    new = judgement.submissions
    if not new:
        return tuple(Result(file=quoted_path(path)) for path in judgement.results)
    replaced = {submission.supersedes for submission in new.values()}
    left_out = withdrawals(repository, judgement.base)
    near = dict(_neighbours(repository, judgement.base, new, left_out))
    old = [result for name, result in near.items() if name not in replaced]
    corpus, within = Corpus.of(old, left_out.known), flags_within(Corpus.of(list(new.values())))
    digests = [understand(result) for result in old]
    whole = set(list(new)[:MAX_UNDERSTOOD])
    results = {path: Result(file=quoted_path(path)) for path in judgement.results}
    for (path, submission), among_new in zip(new.items(), within, strict=True):
        # One flag of each name; flags from the collection come first.
        found = corpus_flags(submission, corpus)
        named = {flag.name for flag in found}
        summary = summarize(submission)
        others = (flag for flag in among_new if flag.name not in named)
        raised = in_order((*summary.flags, *found, *others))
        estimates = after_flags(summary.estimates, raised, submission.arms)
        digest = understand(submission, replace(summary, flags=raised, estimates=estimates))
        # A comment shows the arms of few results, but the flags of all results.
        near_it = positions(digest, digests) if path in whole else None
        expected = expectations(submission) if path in whole else None
        digest = digest if path in whole else replace(digest, arms=())
        results[path] = replace(
            results[path], understood=digest, positions=near_it, expected=expected
        )
    return tuple(results.values())


def positions(own: Understanding, collection: Iterable[Understanding]) -> tuple[Position, ...]:
    """The position of each speculative arm that has a speedup and at least one neighbour."""
    others = [other for other in collection if other.tier == own.tier]
    found = (_position(arm, own, others) for arm in own.arms if arm.role == "speculation")
    return tuple(position for position in found if position is not None)


def _position(
    arm: ArmResult, digest: Understanding, others: Iterable[Understanding]
) -> Position | None:
    own = _speedup(arm)
    if own is None:
        return None
    nearness: dict[Literal["device", "size-class"], Callable[[Understanding], bool]] = {
        "device": lambda other: (other.device, other.backend) == (digest.device, digest.backend),
        "size-class": lambda other: other.size_class == digest.size_class,
    }
    for near, is_near in nearness.items():
        speedups = [
            speedup
            for other in others
            if is_near(other) and (speedup := _fastest(other, arm.method)) is not None
        ]
        if speedups:
            return Position(
                arm=arm.arm,
                near=near,
                results=len(speedups),
                slower=sum(1 for speedup in speedups if speedup < own),
                median_speedup=median(speedups),
            )
    return None


def _fastest(other: Understanding, method: str) -> float | None:
    arms = (arm for arm in other.arms if arm.role == "speculation" and arm.method == method)
    return max((speedup for arm in arms if (speedup := _speedup(arm)) is not None), default=None)


def _speedup(arm: ArmResult) -> float | None:
    whole = overall(arm)
    return whole.speedup if whole else None


def _neighbours(
    repository: Path, base: str, new: Iterable[str], left_out: Withdrawals
) -> Iterator[tuple[str, Submission]]:
    """The chosen results by name, without unreadable, withdrawn and superseded results."""
    there = {name: blob for name, blob in git.files(repository, base, FOLDER).items() if blob}
    names = _chosen(there.keys() - left_out.results, new)
    listed = git.contents(repository, {name: there[name] for name in names})
    read = ((name, contract.read(data)) for name, data in listed)
    found = {name: each for name, each in read if isinstance(each, Submission)}
    superseded = {each.supersedes for each in found.values()}
    for name, each in found.items():
        contributor = (each.contributor or "").lower()
        if name not in superseded and contributor not in left_out.contributors:
            yield name, each


def _chosen(there: Iterable[str], new: Iterable[str]) -> list[str]:
    """The names of results to read: the newest from the same machines, then from other machines."""
    machines = {_machine(PurePosixPath(path).name) for path in new}
    # `<machine>--<target>--<yyyymmdd>-<digest>.json`; a name of another form comes last.
    newest = sorted(sorted(there), key=lambda name: name.rpartition("--")[2], reverse=True)
    same = [name for name in newest if _machine(name) in machines]
    others = [name for name in newest if _machine(name) not in machines]
    return same[:MAX_SAME_MACHINE] + others[:MAX_OTHERS]


def _machine(name: str) -> str:
    return name.partition("--")[0]
