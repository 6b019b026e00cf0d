"""Where does a new result stand among its nearest neighbours in the collection?

Neighbours of an arm are the arms of the same method and tier in other results: on the same device
and backend if there are any, else with a target of the same size class. One result counts once, by
its fastest arm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

import orjson

from estimates.understanding import (
    ArmResult,
    Understanding,
    overall,
)
from pipeline.errors import PipelineError
from pipeline.intake.gate import Judgement
from schemas import strict
from schemas.codec import Json, decode, encode
from schemas.contract import VERDICT_SCHEMA, schema_findings
from schemas.finding import Finding, quoted_path

Near = Literal["device", "size-class"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """An arm among its neighbours: how many there are, how many are slower, and their median."""

    arm: str
    near: Near
    results: int
    slower: int
    median_speedup: float


def positions(own: Understanding, collection: Iterable[Understanding]) -> tuple[Position, ...]:
    """The position of each speculative arm that has a figure and a neighbour."""
    others = [other for other in collection if other.tier == own.tier]
    found = (_position(arm, own, others) for arm in own.arms if arm.role == "speculation")
    return tuple(position for position in found if position is not None)


def _position(
    arm: ArmResult, own: Understanding, others: Iterable[Understanding]
) -> Position | None:
    said = overall(arm)
    if said is None or said.speedup is None:
        return None
    nearness: dict[Near, Callable[[Understanding], bool]] = {
        "device": lambda other: (other.device, other.backend) == (own.device, own.backend),
        "size-class": lambda other: other.size_class == own.size_class,
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
                slower=sum(1 for speedup in speedups if speedup < said.speedup),
                median_speedup=median(speedups),
            )
    return None


def _fastest(other: Understanding, method: str) -> float | None:
    figures = [
        said.speedup
        for arm in other.arms
        if arm.role == "speculation"
        and arm.method == method
        and (said := overall(arm)) is not None
        and said.speedup is not None
    ]
    return max(figures, default=None)


Decision = Literal["accepted", "rejected", "no-result"]
MAX_UNDERSTOOD = 10
MAX_FINDINGS = 200
MAX_NAMED = 100
_DECIMALS = 4


class UnreadableVerdictError(PipelineError):
    """A verdict.json that is missing or is not what our own gate writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One file of the pull request; what was understood of it, if it could be read."""

    file: str
    understood: Understanding | None = None
    positions: tuple[Position, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A finding at its file."""

    file: str
    path: str
    message: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The judgement on the commits from `base` to `head`.

    Long lists are cut; `result_count` and `finding_count` are the true numbers.
    """

    decision: Decision
    base: str
    head: str
    result_count: int
    finding_count: int
    results: tuple[Result, ...]
    findings: tuple[Told, ...]
    author: str | None = None
    format: Literal["draftmap-verdict"] = "draftmap-verdict"
    version: Literal[1] = 1


def to_bytes(report: Report) -> bytes:
    """The report as the bytes of verdict.json."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(_rounded(encode(report)), option=options)


def from_bytes(data: bytes) -> Report:
    """The report in these bytes. Raises `UnreadableVerdictError` for anything that is none."""
    document = strict.load(data)
    found = document if isinstance(document, tuple) else schema_findings(document, VERDICT_SCHEMA)
    if found:
        raise UnreadableVerdictError(found[0].line("verdict.json"))
    return decode(Report, document)  # type: ignore[arg-type]  # without findings it is a document


def from_file(path: Path) -> Report:
    """The report in a file, of which no more is read than a report may hold."""
    if path.is_symlink() or not path.is_file():
        message = "there is no verdict.json; the check did not come to its end"
        raise UnreadableVerdictError(message)
    with path.open("rb") as stream:
        return from_bytes(stream.read(strict.MAX_BYTES + 1))


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, _DECIMALS)
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return value


MAX_ANNOTATIONS = 10


def lines(judgement: Judgement) -> Iterator[str]:
    """One line per finding: `file: $.path: message [rule]`."""
    for path, finding in _pairs(judgement):
        yield finding.line(path)


def commands(judgement: Judgement) -> Iterator[str]:
    """Commands that make the code host show the first findings beside their files."""
    for number, (path, finding) in enumerate(_pairs(judgement)):
        if number < MAX_ANNOTATIONS:
            text = f"{finding.path}: {finding.message} [{finding.rule}]"
            yield f"::error file={_property(path)},title=Draftmap::{_data(text)}"


def note(judgement: Judgement) -> str:
    """The outcome in one sentence."""
    count = len(judgement.results)
    match judgement.decision:
        case "no-result":
            return "This pull request touches no result, so there is nothing to judge."
        case "accepted":
            return f"{count} result file(s): well-formed, consistent and new."
        case "rejected":
            wrong = sum(len(found) for found in judgement.findings.values())
            return f"{wrong} finding(s) in {count} result file(s); correct them and push again."


def _pairs(judgement: Judgement) -> Iterator[tuple[str, Finding]]:
    for path, found in judgement.findings.items():
        for finding in found:
            yield quoted_path(path), finding


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
