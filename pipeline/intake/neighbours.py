"""What did the pull request's results turn out to be, and what in the collection is near them?

The collection may hold thousands of files, so only the newest of those that can be near are read:
those whose name begins like the new one's (the same machine), then any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from estimates.flags import in_order
from estimates.summary import summarize
from estimates.understanding import understand
from pipeline.collection.plausibility import corpus_flags
from pipeline.intake import git
from pipeline.intake.gate import Judgement
from pipeline.intake.paths import FOLDER
from pipeline.intake.verdict import (
    MAX_FINDINGS,
    MAX_NAMED,
    MAX_UNDERSTOOD,
    Report,
    Result,
    Told,
    positions,
)
from schemas import contract
from schemas.finding import quoted_path
from schemas.submission import Submission

LIFECYCLE = "results/lifecycle"
MAX_SAME_MACHINE = 40
MAX_OTHERS = 40


def report(repository: Path, judgement: Judgement) -> Report:
    """The judgement as data, with what was understood of each result and where it stands."""
    read = dict(list(judgement.submissions.items())[:MAX_UNDERSTOOD])
    near = dict(_neighbours(repository, judgement.base, read)) if read else {}
    told = [
        Told(file=quoted_path(path), path=each.path, message=each.message, rule=each.rule)
        for path, found in judgement.findings.items()
        for each in found
    ]
    return Report(
        decision=judgement.decision,
        base=judgement.base,
        head=judgement.head,
        author=judgement.author,
        result_count=len(judgement.results),
        finding_count=len(told),
        results=tuple(
            _result(path, read.get(path), near) for path in judgement.results[:MAX_NAMED]
        ),
        findings=tuple(told[:MAX_FINDINGS]),
    )


def _result(path: str, submission: Submission | None, near: Mapping[str, Submission]) -> Result:
    """One result among its neighbours; the one that it replaces is none of them."""
    if submission is None:
        return Result(file=quoted_path(path))
    others = [other for name, other in near.items() if name != submission.supersedes]
    summary = summarize(submission)
    flags = in_order((*summary.flags, *corpus_flags(submission, others)))
    understood = understand(submission, replace(summary, flags=flags))
    return Result(
        file=quoted_path(path),
        understood=understood,
        positions=positions(understood, map(understand, others)),
    )


def _neighbours(
    repository: Path, base: str, new: Iterable[str]
) -> Iterator[tuple[str, Submission]]:
    """Results of the collection that count, by name, as far as they are read."""
    for name in _chosen(git.names(repository, base, FOLDER), new, _ended(repository, base)):
        result = contract.read(git.file(repository, base, f"{FOLDER}/{name}"))
        if isinstance(result, Submission):
            yield name, result


def _chosen(there: Iterable[str], new: Iterable[str], ended: frozenset[str]) -> list[str]:
    """The newest names on the same machines, then the newest of all others."""
    machines = {_machine(PurePosixPath(path).name) for path in new}
    names = (PurePosixPath(path).name for path in there)
    counting = [name for name in names if name.endswith(".json") and name not in ended]
    newest = sorted(counting, key=_day, reverse=True)
    same = [name for name in newest if _machine(name) in machines]
    others = [name for name in newest if _machine(name) not in machines]
    return same[:MAX_SAME_MACHINE] + others[:MAX_OTHERS]


def _ended(repository: Path, base: str) -> frozenset[str]:
    """The results that were withdrawn or are in quarantine, and those that another one replaces."""
    entries = {PurePosixPath(path).name for path in git.names(repository, base, LIFECYCLE)}
    return frozenset(entries) | git.values(repository, base, FOLDER, "supersedes").keys()


def _machine(name: str) -> str:
    return name.partition("--")[0]


def _day(name: str) -> str:
    """`<machine>--<target>--<yyyymmdd>-<digest>.json`; what is named otherwise comes last."""
    return name.rpartition("--")[2]
