"""How is the gate's judgement told: to a terminal, to the code host, to the next workflow?

Paths and findings come from a stranger. Nothing they hold can begin a line, so none of it is read
as a command of the runner or as markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from schemas.finding import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.gate import Judgement
    from schemas.finding import Finding

MAX_ANNOTATIONS = 10
_PLAIN_PATH = re.compile(r"[A-Za-z0-9.][A-Za-z0-9._/-]{0,199}")
_TITLES = {
    "accepted": "Accepted",
    "rejected": "Not accepted yet",
    "no-result": "No result in this pull request",
}


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


def summary(judgement: Judgement) -> str:
    """A Markdown page; what a stranger wrote stands in an indented block: nothing is markup."""
    paths = [f"    {_told(path)}" for path in judgement.results]
    findings = [f"    {line}" for line in lines(judgement)]
    parts = [f"## {_TITLES[judgement.decision]}", note(judgement)]
    if paths:
        parts += ["Files:", "\n".join(paths)]
    if findings:
        parts += ["Findings:", "\n".join(findings)]
    return "\n\n".join(parts) + "\n"


def as_json(judgement: Judgement) -> bytes:
    """The judgement for machines."""
    findings = [
        {"file": path, "path": f.path, "message": f.message, "rule": f.rule}
        for path, f in _pairs(judgement)
    ]
    value = {
        "version": 1,
        "decision": judgement.decision,
        "base": judgement.base,
        "head": judgement.head,
        "results": [_told(path) for path in judgement.results],
        "findings": findings,
    }
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _pairs(judgement: Judgement) -> Iterator[tuple[str, Finding]]:
    for path, found in judgement.findings.items():
        for finding in found:
            yield _told(path), finding


def _told(path: str) -> str:
    return path if _PLAIN_PATH.fullmatch(path) else shown(path)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
