"""What does a contributor read under the pull request? The report as Markdown.

Whatever a stranger may have written stands in a code span: there, Markdown, HTML, mentions and
links are only letters. All other words are ours or from closed lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from estimates.understanding import ArmSaid, FlagSaid, TaskSaid, Understanding, overall
from pipeline.intake.verdict import Position, Report, Result, Told
from schemas.finding import shown
from schemas.vocabulary import VERDICTS, say

MAX_SHOWN_RESULTS = 5
MAX_SHOWN_FINDINGS = 50
MAX_CHARACTERS = 60_000  # the code host takes 65,536
SHORT_ID = 10
_TICKS = re.compile(r"`+")
_TITLES = {
    "accepted": "Accepted: thank you!",
    "rejected": "Not accepted yet",
    "no-result": "No result in this pull request",
}


def body(report: Report) -> str:
    """The whole page, within what a comment may hold."""
    parts = [f"## {_TITLES[report.decision]}", _opening(report)]
    parts += _findings(report)
    for result in report.results[:MAX_SHOWN_RESULTS]:
        parts += _result(result, report.author)
    more = report.result_count - MAX_SHOWN_RESULTS
    if more > 0:
        parts.append(f"{more} more result files are not shown here; the site will show them all.")
    parts.append(f"Judged: commit `{report.head[:SHORT_ID]}`.")
    return _cut(parts)


def code(text: str) -> str:
    """A stranger's text as a code span that nothing in it can end."""
    plain = text if text.isprintable() else shown(text)
    longest = max((len(run) for run in _TICKS.findall(plain)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or not plain.strip() else ""
    return f"{fence}{pad}{plain or ' '}{pad}{fence}"


def _opening(report: Report) -> str:
    if report.decision == "no-result":
        return "This pull request touches no result, so there is nothing to judge."
    files = say.count(report.result_count, "result file")
    if report.decision == "accepted":
        return (
            f"{files}: well-formed, consistent and new. Once a maintainer has merged it, the site "
            "is built anew and shows it. Here is what was understood:"
        )
    return (
        f"{say.count(report.finding_count, 'finding')} in {files}. Nothing is lost: mend what is "
        "named below and push to the same branch; this comment is then written anew. To ask, just "
        "answer here. On your machine `python -m harness validate FILE` says the same."
    )


def _findings(report: Report) -> Iterator[str]:
    told = report.findings[:MAX_SHOWN_FINDINGS]
    if not told:
        return
    yield "### To mend"
    for file in dict.fromkeys(each.file for each in told):
        lines = [_finding(each) for each in told if each.file == file]
        yield "\n".join([f"- {code(file)}", *lines])
    more = report.finding_count - len(told)
    if more > 0:
        yield f"And {say.count(more, 'more finding')}."


def _finding(told: Told) -> str:
    place = "" if told.path == "$" else f"at {code(told.path)}: "
    return f"    - {place}{code(told.message)} ({code(told.rule)})"


def _result(result: Result, author: str | None) -> Iterator[str]:
    said = result.understood
    if said is None:
        return
    yield f"### {code(result.file.rpartition('/')[2])}"
    yield "\n".join(_facts(said, author))
    positions = {position.arm: position for position in result.positions or ()}
    for arm in said.arms:
        yield from _arm(arm, said, positions.get(arm.arm))
    yield from _flags(said.flags)


def _facts(said: Understanding, author: str | None) -> Iterator[str]:
    yield f"- Machine: {code(said.device)}, {code(said.backend)}"
    yield f"- Engine: {code(said.engine)}"
    yield f"- Target: {code(said.target)} ({code(said.size_class)})"
    trials = say.count(said.trials, "trial")
    failed = f", {said.failed_trials} of them failed" if said.failed_trials else ""
    yield (
        f"- Campaign: {said.profile}, {said.measured_on}, suite {code(said.suite)}, "
        f"{say.count(said.prompts, 'prompt')} in {say.count(said.blocks, 'block')}, "
        f"{trials}{failed}"
    )
    if said.tier == "imported":
        yield "- Tier: imported; never averaged with measured results"
    yield f"- Credit: {_credit(said.contributor, author)}"
    if said.supersedes is not None:
        yield f"- Replaces: {code(said.supersedes)}, which stays and no longer counts"


def _credit(contributor: str | None, author: str | None) -> str:
    if contributor is None:
        return "nobody (anonymous)"
    if author is None or author.lower() == contributor.lower():
        return code(contributor)
    return f"{code(contributor)}; the pull request is by {code(author)}"


def _arm(arm: ArmSaid, said: Understanding, position: Position | None) -> Iterator[str]:
    draft = f" with {code(arm.draft)}" if arm.draft else ""
    depth = f", up to {say.count(arm.depth, 'token')} a draft" if arm.depth else ""
    role = "" if arm.role == "speculation" else f" ({arm.role})"
    yield f"**{code(arm.arm)}**{role}: {code(arm.method)}{draft}{depth}"
    if arm.failure is not None:
        yield f"The arm failed: {code(arm.failure)}. That is a result too, and is shown."
    if position is not None:
        yield _position(arm, said, position)
    if arm.said:
        head = [
            "| task | verdict | speedup, 95 % interval | prompts |",
            "| --- | --- | --- | ---: |",
        ]
        yield "\n".join([*head, *map(_row, arm.said)])


def _position(arm: ArmSaid, said: Understanding, position: Position) -> str:
    near = {
        "device": f"on the same device and backend ({code(said.device)}, {code(said.backend)})",
        "size-class": f"with a target of the same size class ({code(said.size_class)})",
    }[position.near]
    whole = overall(arm)
    own = "" if whole is None else f" {_speedup(whole)} against a median of"
    return (
        f"Faster than {position.slower} of {say.count(position.results, 'result')} of this method "
        f"{near}:{own or ' their median is'} {say.times(position.median_speedup)}."
    )


def _row(said: TaskSaid) -> str:
    task = said.task or "**all tasks**"
    return f"| {task} | {VERDICTS[said.verdict].word} | {_speedup(said)} | {said.prompts} |"


def _speedup(said: TaskSaid) -> str:
    text = say.speedup(said.speedup, said.interval_low, said.interval_high)
    return text.replace("[", r"\[").replace("<", "&lt;")


def _flags(flags: Iterable[FlagSaid]) -> Iterator[str]:
    lines = [
        f"- {flag.severity} {code(flag.name)}: {code(flag.message)}\n"
        f"    - to mend it: {code(flag.remedy)}"
        for flag in flags
    ]
    if lines:
        yield "Flags never reject; everybody sees them beside the figures:"
        yield "\n".join(lines)


def _cut(parts: list[str]) -> str:
    """The paragraphs that fit; what is left out is said."""
    rest = "The rest did not fit into a comment; the check's log has it all."
    kept: list[str] = []
    room = MAX_CHARACTERS - len(rest)
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            kept.append(rest)
            break
        kept.append(part)
    return "\n\n".join(kept) + "\n"
