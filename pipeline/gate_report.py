"""How is the gate's judgement told: to a terminal and to the code host's log?

Paths and findings come from a stranger. Nothing they hold can begin a line, so none of it is read
as a command of the runner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.finding import quoted_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipeline.gate import Judgement
    from schemas.finding import Finding

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
