"""What does the gate hand to the next workflow? The whole judgement as data: `verdict.json`.

The schema `verdict.v1` is checked when the file is written and again by whoever reads it: the
reader has more rights than the writer and must not trust it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import orjson

from estimates.understanding import Understanding  # noqa: TC001 - read by the codec
from pipeline.errors import PipelineError
from pipeline.position import Position  # noqa: TC001 - read by the codec
from schemas import strict
from schemas.codec import decode, encode
from schemas.contract import VERDICT_SCHEMA, schema_findings

if TYPE_CHECKING:
    from pathlib import Path

    from schemas.codec import Json

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
