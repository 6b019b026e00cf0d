"""Print the report of a result: a few sentences, a table, and the command to use.

This short answer is meant for newcomers, so it has at most 24 lines of 80 columns; with `details`,
all figures follow.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from estimates.identity import identify
from estimates.model import Estimate, Flag, Summary, Verdict
from estimates.repeatability import blocks_run
from estimates.verdicts import beyond_drift
from harness import PROGRAM, features
from harness.machine.command_line import pasted
from harness.report import details as all_figures
from harness.report import short_answer, use, words
from harness.report.setting_results import SettingFigures, settings
from harness.report.use import INDENT, folded
from schemas.submission import Submission
from schemas.vocabulary import METHODS, VERDICTS, say, sentence

LINES = 24
_MOST_ROWS, _FEWEST_ROWS = 6, 2
_NAME_COLUMNS = 24
_HEADINGS = ("tokens/s", "plain", "with it", "speed", "whole answer", "verdict")


def show(
    submission: Submission,
    summary: Summary,
    console: Console,
    *,
    path: Path,
    local_files: use.LocalFiles | None = None,
    details: bool = False,
) -> None:
    """Print the verdict. `path` is the result file; `local_files` are the measured model files."""
    first, *others = _parts(submission, summary, path, local_files or use.LocalFiles())
    found = [Text(line, style="bold") for line in first]
    for part in filter(None, others):
        found += [Text(), *map(Text, part)]
    if details:
        found += [Text(), *all_figures.lines(submission, summary, console.width)]
    for line in found:
        console.print(line, soft_wrap=True)


def _parts(
    submission: Submission, summary: Summary, path: Path, local_files: use.LocalFiles
) -> list[list[str]]:
    """Return the paragraphs of the short answer: verdict, table, command, setup."""
    drafting = settings(submission, summary)
    target = f"{submission.target.name} {submission.target.quantisation}"
    where = f"{target} on {identify(submission).device_label}"
    closing = _closing(submission, where, summary.flags, path)
    if not drafting:
        return [folded(_no_method(submission, where)), closing]
    best = drafting[0]
    chosen = ", corrected for the choice" if best.choices > 1 else ""
    legend = f"Brackets: 95 % range for other prompts of this kind{chosen}."
    missed = features.part("missed gain").sentences(best, submission)
    said = folded(" ".join((short_answer.sentences(best, summary), *missed)))
    command = _command(best, submission, local_files)
    last = [legend, *closing]
    room = LINES - len(said) - len(command) - len(last) - 3
    table = _table(drafting, max(_FEWEST_ROWS, min(_MOST_ROWS, room - 2)))
    return [said, table, command, last]


def _no_method(submission: Submission, where: str) -> str:
    if any(METHODS[arm.method.type].instrument for arm in submission.arms):
        return (
            "Acceptance was set to a fixed value, so this result shows the cost of a round for "
            f"{where}, but has no verdict."
        )
    if all(arm.role == "baseline" for arm in submission.arms):
        return f"Only plain decoding was measured for {where}, so there is no verdict."
    return f"Only controls were measured for {where}, so there is no verdict on a method."


def _table(found: Sequence[SettingFigures], most: int) -> list[str]:
    rows = [*_rows(found)]
    cells = [tuple(map(Text, row)) for row in (_HEADINGS, *rows[:most])]
    for name, *_ in cells:
        name.truncate(_NAME_COLUMNS, overflow="ellipsis")
    aligned = words.aligned(cells, right={1, 2, 3, 4}, width=use.COLUMNS, gap="  ")
    lines = [line.plain for line in aligned]
    if len(rows) > most:
        lines.append(f"and {len(rows) - most} more")
    ran = [each for each in found if each.alone and each.whole.speedup is not None]
    if any(each.whole.whole_request is None and not each.at_most_request for each in ran):
        lines.append(f"{say.UNKNOWN} whole request not known")
    return [INDENT + line for line in lines]


def _rows(found: Sequence[SettingFigures]) -> Iterator[tuple[str, ...]]:
    """Yield a name and cells for each arm, or for each task if no arm has a figure over all."""
    by_task = all(each.whole.speedup is None for each in found)
    for each in found:
        if by_task and each.tasks:
            for task in each.tasks:
                yield f"{each.arm.id} {task.scope}", *_figures(task, each.verdict_on(task))
        else:
            yield each.arm.id, *_figures(each.whole, each.verdict, each.at_most_request)


def _figures(
    each: Estimate, verdict: Verdict, at_most_request: float | None = None
) -> tuple[str, ...]:
    bound = words.AT_MOST if each.at_most else ""
    return (
        say.rate(each.baseline_tps),
        f"{bound}{say.rate(each.tps)}",
        f"{bound}{say.times(each.speedup)}",
        f"{words.AT_MOST}{say.times(at_most_request)}"
        if at_most_request
        else say.times(each.whole_request),
        VERDICTS[verdict].short,
    )


def _command(
    best: SettingFigures, submission: Submission, local_files: use.LocalFiles
) -> list[str]:
    """Return the command to use: with the best arm if it is faster, else for the target alone."""
    chosen = best.arm if best.answer in ("yes", "depends") or _is_faster(best) else None
    heading = f"{sentence('off')}:" if chosen is None else _heading(best)
    if chosen is None and best.answer in ("unknown", "nothing") and not beyond_drift(best.whole):
        heading = "Until there is a verdict, run without a draft:"
    server = submission.engine.name
    if server not in use.SERVERS:
        return [heading, *use.elsewhere(chosen, server)]
    return [heading, *use.command(submission, chosen, local_files)]


def _is_faster(best: SettingFigures) -> bool:
    """Whether it is faster by more than drift explains, although there is no verdict."""
    is_beyond = best.answer == "unknown" and beyond_drift(best.whole)
    return is_beyond and (best.whole.speedup or 0.0) > 1


def _heading(best: SettingFigures) -> str:
    """Return the heading of the command with the best arm."""
    helped, lost = ([task.scope for task in own] for own in (best.helped, best.lost))
    if best.answer == "unknown":
        return "To use it, although the arms did not alternate:"
    if best.helped and best.verdict != "helps":
        return f"To use this setting for {say.listed(helped)}:"
    if best.answer == "depends":
        return f"To use this setting (but not for {say.listed(lost)}):"
    return "Use it:"


def _closing(submission: Submission, where: str, flags: Sequence[Flag], path: Path) -> list[str]:
    """Return the setup, any reasons for doubt, and the command that shows the rest."""
    prompts = say.count(len(submission.suite.prompts), "prompt")
    blocks = say.count(blocks_run(submission), "block")
    quick = ", a first look" if submission.profile == "quick" else ""
    lines = folded(f"{where}: {prompts}, {blocks}{quick}.")
    if submission.tier == "imported":
        lines += folded(f"{sentence('imported')}.")
    doubts = [each for kind in ("serious", "caution") for each in flags if each.severity == kind]
    if doubts:
        others = len(doubts) - 1
        more = f" {say.count(others, 'other doubt')}." if others else ""
        more = " One other doubt." if others == 1 else more
        lines += folded(f"Doubt ({doubts[0].name}): {doubts[0].message}{more}")
    command = pasted([*PROGRAM.split(), "show", str(path), "--details"])
    return [*lines, f"All figures: {command}"]
