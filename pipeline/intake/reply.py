"""Write the reply to a pull request as data: verdict.json, and lines for the console.

The gate runs without write access to the repository and writes verdict.json. The workflow that
writes the comment reads this file and trusts no byte of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import orjson

from estimates.model import Flag
from pipeline.errors import PipelineError
from pipeline.intake.gate import Decision, Judgement
from pipeline.intake.submission_digest import Understanding, understand
from schemas import strict
from schemas.codec import decode, encode, rounded
from schemas.finding import Finding, in_file, quoted_path
from schemas.submission import Submission
from schemas.validator import VERDICT_SCHEMA, schema_findings
from schemas.vocabulary import say

VERDICT = "verdict.json"  # the file's name
MAX_FINDINGS = 200
MAX_NAMED = 100
_DECIMALS = 4
NO_RESULT = "This pull request changes no results, so there is nothing to check."
GOOD = "well-formed, consistent and new"


class UnreadableVerdictError(PipelineError):
    """A verdict.json is missing, or is not in the format that the gate writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One file of the pull request, with a description of its content if it could be read."""

    file: str
    understood: Understanding | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A printed speedup before and after a change; `None` where there is none."""

    what: str
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A published figure as the reply shows it; without a speedup, the run crashed."""

    what: str
    speedup: float | None = None
    person: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The change of what the site shows; for unchecked figures, once they are checked."""

    is_checked: bool
    claims: tuple[Claim, ...] | None = None
    figures: tuple[Move, ...] | None = None
    predictions: tuple[Move, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply about the commits from `base` to `head`; long lists are cut, counts are not."""

    decision: Decision
    base: str
    head: str
    result_count: int
    finding_count: int
    results: tuple[Result, ...]
    findings: tuple[Finding, ...]
    questions: tuple[Finding, ...] | None = None
    author: str | None = None
    is_new: bool = False
    effect: Effect | None = None
    format: Literal["draftmap-verdict"] = "draftmap-verdict"
    version: Literal[1] = 1


def has_serious_flags(result: Result) -> bool:
    flags = result.understood.flags if result.understood else ()
    return any(flag.severity == "serious" for flag in flags)


def reply(judgement: Judgement) -> Reply:
    """Build the reply from a judgement, with a summary of each result that could be read."""
    return Reply(
        decision=judgement.decision,
        base=judgement.base,
        head=judgement.head,
        author=judgement.author,
        is_new=judgement.is_new,
        result_count=len(judgement.results),
        finding_count=len(judgement.findings),
        results=tuple(described(judgement.results, judgement.submissions)),
        findings=tuple(_printable(judgement.findings[:MAX_FINDINGS])),
        questions=tuple(_printable(judgement.questions[:MAX_FINDINGS])) or None,
    )


def described(
    paths: Sequence[str],
    submissions: Mapping[str, Submission],
    flags: Mapping[str, tuple[Flag, ...]] = MappingProxyType({}),
) -> Iterator[Result]:
    """The first results, with summaries of those that could be read.

    `flags` are those of a build, which compares with others; without a build, a result has its own.
    """
    for path in paths[:MAX_NAMED]:
        own = submissions.get(path)
        digest = understand(own, flags.get(path)) if own else None
        yield Result(file=quoted_path(path), understood=digest)


def to_bytes(reply: Reply) -> bytes:
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(rounded(encode(reply), _DECIMALS), option=options)


def from_bytes(data: bytes) -> Reply:
    """The reply in these bytes. Raises `UnreadableVerdictError` for anything else."""
    document = strict.load(data)
    found = document if isinstance(document, tuple) else schema_findings(document, VERDICT_SCHEMA)
    if found:
        raise UnreadableVerdictError(in_file(found, VERDICT)[0].line())
    return decode(Reply, document)  # type: ignore[arg-type]  # without findings it is a document


def from_file(path: Path) -> Reply:
    """Read a reply from a file, but no more bytes than a reply can have."""
    if path.is_symlink() or not path.is_file():
        raise UnreadableVerdictError(f"there is no {VERDICT}; the check did not finish")
    with path.open("rb") as stream:
        return from_bytes(stream.read(strict.MAX_BYTES + 1))


def lines(judgement: Judgement) -> Iterator[str]:
    """One line per finding: `file: $.path: message [rule]`."""
    return (finding.line() for finding in _printable(judgement.findings))


def files(answer: Reply) -> str:
    return say.count(answer.result_count, "result file")


def note(answer: Reply) -> str:
    """The decision in a sentence."""
    flagged = [result.file for result in answer.results if has_serious_flags(result)]
    match answer.decision:
        case "no-result":
            return NO_RESULT
        case "accepted" if flagged:
            return (
                f"{files(answer)}: {GOOD}, but these have serious flags and get no vote: "
                f"{', '.join(flagged)}."
            )
        case "accepted":
            return f"{files(answer)}: {GOOD}."
        case "rejected":
            wrong = say.count(answer.finding_count, "problem")
            return f"{wrong} in {files(answer)}; fix what is listed and push again."


def _printable(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings with file names that are safe to print."""
    return (replace(each, file=quoted_path(each.file)) for each in findings)
