"""Render the reply to a pull request as the Markdown of its comment.

Text from the contributor appears only in code spans, where Markdown, HTML, mentions and links have
no effect. All other words are ours or from closed lists.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.intake import reply
from pipeline.intake.reply import Effect, Reply, Result, has_serious_flags
from pipeline.intake.submission_digest import ArmResult, Understanding
from schemas.finding import Finding, shown
from schemas.vocabulary import VERDICTS, say, sentence
from schemas.vocabulary.documents import document

MAX_SHOWN_RESULTS = 5
MAX_SHOWN_FINDINGS = 50
MAX_CHARACTERS = 60_000  # GitHub's limit is 65,536 characters
SHORT_ID = 10
_WORDS: dict[str, str] = document("comment", "pipeline.intake")
_TICKS = re.compile(r"`+")


def write(answer: Reply, folder: Path, *, of_form: bool = False) -> None:
    """Write the reply and its comment into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / reply.VERDICT).write_bytes(reply.to_bytes(answer))
    (folder / "summary.md").write_text(body(answer, of_form=of_form), "utf-8")


def body(answer: Reply, *, of_form: bool = False) -> str:
    """The whole comment, cut to the length that GitHub accepts."""
    flagged = sum(1 for result in answer.results if has_serious_flags(result))
    title = "flagged" if flagged and answer.decision == "accepted" else answer.decision
    repair = _WORDS["by-form" if of_form else "by-branch"]
    parts = [f"## {_WORDS[title]}", _opening(answer, flagged, repair)]
    parts += _findings("Problems", answer.findings, answer.finding_count)
    asked = answer.questions or ()
    parts += _findings("Questions for the maintainers", asked, len(asked))
    for result in sorted(answer.results, key=has_serious_flags, reverse=True)[:MAX_SHOWN_RESULTS]:
        parts += _result(result, answer.author)
    more = answer.result_count - MAX_SHOWN_RESULTS
    if more > 0:
        parts.append(
            f"{more} more result files are not shown here; the site will show all of them."
        )
    if answer.effect is not None:
        parts += _effect(answer.effect)
    if answer.decision == "accepted":
        parts += [_where(answer), _WORDS["merging"]]
    if answer.decision == "accepted" and answer.is_new and answer.author is not None:
        entry = code(f"results/lifecycle/contributor--{answer.author.lower()}.json")
        parts.append(_WORDS["new"].format(who=code(answer.author), entry=entry))
    parts.append(f"Checked: commit `{answer.head[:SHORT_ID]}`.")
    return _cut(parts)


def not_checked(why: str) -> str:
    """The comment on a pull request without a check; `why` is `own-checks` or `unfinished`."""
    return f"## Not checked\n\n{_WORDS[why]}\n"


def code(text: str) -> str:
    """The contributor's text as a code span, fenced by more backticks than any run in it has."""
    plain = text if text.isprintable() else shown(text)
    longest = max((len(run) for run in _TICKS.findall(plain)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or not plain.strip() else ""
    return f"{fence}{pad}{plain or ' '}{pad}{fence}"


def _opening(answer: Reply, flagged: int, repair: str) -> str:
    if answer.decision == "no-result":
        return reply.NO_RESULT
    files = reply.files(answer)
    if answer.decision == "accepted" and flagged:
        doubtful = say.count(flagged, "file")
        return f"Thank you. {files}: {reply.GOOD}. But {doubtful} {_WORDS['doubtful']}"
    if answer.decision == "accepted":
        return f"{files}: {reply.GOOD}. {_WORDS['good']}"
    place = f" in {files}" if answer.result_count else ""
    wrong = say.count(answer.finding_count, "problem")
    return f"{wrong}{place}. {repair} {_WORDS['questions']}"


def _where(answer: Reply) -> str:
    """The sentence that says where the site will show the results."""
    if answer.results[0].file.startswith("results/published/"):
        return "The next build of the site shows the result on the page of its card."
    pages = [code(f"submissions/{Path(each.file).stem}/") for each in answer.results]
    shown_pages = say.listed(pages[:MAX_SHOWN_RESULTS])
    return (
        f"The next build of the site shows the {'result' if len(pages) == 1 else 'results'} at "
        f"{shown_pages}, and the contributor's row on the page *Contribute*."
    )


def _effect(made: Effect) -> Iterator[str]:
    """The published figures, and the figures and predictions that they or results move."""
    yield "### What it changes"
    if made.claims:
        yield "\n".join(
            f"- {code(each.what)}: {_printed(each.speedup, 'crashed')}, by "
            f"{code(each.person or 'the source')}{f' at <{each.address}>' if each.address else ''}"
            for each in made.claims
        )
    if not made.is_checked:
        yield _WORDS["unchecked"]
    moves = [
        each
        for each in (*(made.figures or ()), *(made.predictions or ()))
        if _printed(each.before) != _printed(each.after)
    ]
    predicted = {each.what for each in made.predictions or ()}
    lines = [
        f"- {'prediction for ' if each.what in predicted else ''}{code(each.what)}: "
        f"{_printed(each.before)} \N{RIGHTWARDS ARROW} {_printed(each.after)}"
        for each in moves
    ]
    yield "\n".join([*lines, "- nothing else moves" if lines else "- nothing moves"])


def _printed(speedup: float | None, absent: str = "none") -> str:
    return absent if speedup is None else say.times(speedup)


def _findings(title: str, found: Sequence[Finding], count: int) -> Iterator[str]:
    shown_findings = found[:MAX_SHOWN_FINDINGS]
    if not shown_findings:
        return
    yield f"### {title}"
    for file in dict.fromkeys(each.file for each in shown_findings):
        yield f"- {code(file)}\n" + "\n".join(
            f"    - {'' if each.path == '$' else f'at {code(each.path)}: '}"
            f"{code(each.message)} ({code(each.rule)})"
            for each in shown_findings
            if each.file == file
        )
    if (more := count - len(shown_findings)) > 0:
        yield f"And {more} more."


def _result(result: Result, author: str | None) -> Iterator[str]:
    digest = result.understood
    if digest is None:
        return
    yield f"### {code(result.file.rpartition('/')[2])}"
    yield "\n".join(_facts(digest, author))
    if digest.arms:
        yield _WORDS["figures"]
        yield "\n".join(map(_arm, digest.arms))
    if digest.flags:
        yield "A flag does not reject a result; the site shows flags next to the result's figures:"
        yield "\n".join(
            f"- {flag.severity} {code(flag.name)}: {code(flag.message)}\n"
            f"    - remedy: {code(flag.remedy)}"
            for flag in digest.flags
        )


def _facts(own: Understanding, author: str | None) -> Iterator[str]:
    yield f"- Machine: {code(own.device)}, {code(own.backend)}"
    yield f"- Engine: {code(own.engine)}"
    yield f"- Target: {code(own.target)}"
    failed = f", {own.failed_trials} of them failed" if own.failed_trials else ""
    yield f"- Campaign: {own.profile}, {own.measured_on}, {say.count(own.trials, 'trial')}{failed}"
    if own.tier == "imported":
        yield f"- {sentence('imported')}"
    credit = code(own.contributor) if own.contributor else "nobody (anonymous)"
    if own.contributor and author and author.lower() != own.contributor.lower():
        credit += f"; the pull request is by {code(author)}"
    yield f"- Credit: {credit}"


def _arm(arm: ArmResult) -> str:
    if arm.failure is not None:
        return f"- {code(arm.arm)} failed ({code(arm.failure)}); the site shows failures, too"
    low, high = (arm.interval.low, arm.interval.high) if arm.interval else (None, None)
    ratio = say.speedup(arm.speedup, low, high).replace("[", r"\[").replace("<", "&lt;")
    bound = "at most " if arm.at_most else ""
    return (
        f"- {code(arm.arm)}: {VERDICTS[arm.verdict].label}, {bound}{ratio} over "
        f"{say.count(arm.prompts, 'prompt')}"
    )


def _cut(parts: list[str]) -> str:
    """The paragraphs that fit, and a note if some do not fit."""
    rest = "The rest did not fit into this comment; the check's log has the full text."
    fitting: list[str] = []
    room = MAX_CHARACTERS - len(rest)
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            fitting.append(rest)
            break
        fitting.append(part)
    return "\n\n".join(fitting) + "\n"
