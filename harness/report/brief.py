"""Print the short answer of a result: a few sentences, a table, and the command to use.

The answer is meant for newcomers, so it has at most 24 lines of 80 columns; `--details` prints the
rest.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from estimates.identity import identify
from estimates.model import Estimate, Flag, Summary, Verdict
from estimates.repeatability import blocks_run
from harness import PROGRAM
from harness.machine.command_line import pasted
from harness.report import short_answer, trust, use, words
from harness.report.setting_results import SettingFigures, settings
from harness.report.use import INDENT, folded
from schemas.submission import Submission
from schemas.vocabulary import METHODS, VERDICTS, say, sentence

LINES = 24
_MOST_ROWS, _FEWEST_ROWS = 6, 2
_NAME_COLUMNS = 24
_HEADINGS = ("plain", "with it", "speed", "whole answer", "verdict")


def show(
    submission: Submission,
    summary: Summary,
    console: Console,
    *,
    path: Path,
    local_files: use.LocalFiles | None = None,
) -> None:
    """Print the verdict. `path` is the result file; `local_files` are the measured model files."""
    drafting = settings(submission, summary)
    if not drafting:
        parts = [folded(_no_method(submission)), [], [], _closing(submission, summary.flags, path)]
    else:
        chosen = ", corrected for the choice" if drafting[0].choices > 1 else ""
        legend = f"Brackets: 95 % range for other prompts of this kind{chosen}."
        spreads = {each.arm: each for each in summary.repeatability}
        starts = folded(trust.starts(spreads.get(drafting[0].arm.id)))
        parts = [
            folded(short_answer.sentences(drafting[0], summary)),
            [],
            _command(drafting[0], submission, local_files or use.LocalFiles()),
            [legend, *starts, *_closing(submission, summary.flags, path)],
        ]
        room = LINES - len([line for part in parts for line in part]) - 3
        parts[1] = _table(drafting, max(_FEWEST_ROWS, min(_MOST_ROWS, room - 2)))
    for number, part in enumerate(filter(None, parts)):
        if number:
            console.print()
        for line in part:
            console.print(Text(line, style="" if number else "bold"), soft_wrap=True)


def _no_method(submission: Submission) -> str:
    where = f"{_target(submission)} on {identify(submission).device_label}"
    if any(METHODS[arm.method.type].instrument for arm in submission.arms):
        return (
            "Acceptance was set to a fixed value, so this result shows the cost of a round for "
            f"{where}, but has no verdict."
        )
    if all(arm.role == "baseline" for arm in submission.arms):
        return f"Only plain decoding was measured for {where}, so there is no verdict."
    return f"Only controls were measured for {where}, so there is no verdict on a method."


def _target(submission: Submission) -> str:
    return f"{submission.target.name} {submission.target.quantisation}"


def _table(found: Sequence[SettingFigures], most: int) -> list[str]:
    rows = [*_rows(found)]
    width = min(_NAME_COLUMNS, max(len(name) for name, _ in rows))
    lines = [f"{'tokens/s':{width + 2}}{_cells(_HEADINGS)}"]
    for name, figures in rows[:most]:
        short = name if len(name) <= width else f"{name[: width - 1]}…"
        lines.append(f"{short:{width + 2}}{_cells(figures)}")
    if len(rows) > most:
        lines.append(f"and {len(rows) - most} more")
    ran = [each for each in found if each.alone and each.whole.speedup is not None]
    if any(each.whole.whole_request is None and not each.at_most_request for each in ran):
        lines.append(f"{say.UNKNOWN} whole request not known")
    return [INDENT + line for line in lines]


def _rows(found: Sequence[SettingFigures]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a name and cells for each arm, or for each task if no arm has a figure over all."""
    by_task = all(each.whole.speedup is None for each in found)
    for each in found:
        if by_task and each.tasks:
            for task in each.tasks:
                figures = _figures(task, each.verdict_on(task))
                yield f"{each.arm.id} {task.scope}", figures
        else:
            yield each.arm.id, _figures(each.whole, each.verdict, each.at_most_request)


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


def _cells(cells: Sequence[str]) -> str:
    plain, own, speed, request, verdict = cells
    return f"{plain:>6}  {own:>7}  {speed:>6}  {request:>12}  {verdict}"


def _command(
    best: SettingFigures, submission: Submission, local_files: use.LocalFiles
) -> list[str]:
    """Return the command to use: with the best arm if it is faster, else for the target alone."""
    chosen = best.arm if best.answer in ("yes", "depends") else None
    match best.answer:
        case "depends" | "yes" if best.helped and best.verdict != "helps":
            heading = f"To use this setting for {say.listed([task.scope for task in best.helped])}:"
        case "depends":
            heading = (
                "To use this setting (but not for "
                f"{say.listed([task.scope for task in best.lost])}):"
            )
        case "yes":
            heading = "Use it:"
        case "unknown" | "nothing":
            heading = "Until there is a verdict, run without a draft:"
        case "no" | "long-answers":
            heading = f"{sentence('off')}:"
    server = submission.engine.name
    if server not in use.ENGINES:
        return [heading, *use.elsewhere(chosen, server)]
    return [heading, *use.command(submission, chosen, local_files)]


def _closing(submission: Submission, flags: Sequence[Flag], path: Path) -> list[str]:
    """Return the setup, any reasons for doubt, and the command that shows the rest."""
    prompts = say.count(len(submission.suite.prompts), "prompt")
    blocks = say.count(blocks_run(submission), "block")
    where = f"{_target(submission)} on {identify(submission).device_label}"
    quick = ", a first look" if submission.profile == "quick" else ""
    lines = folded(f"{where}: {prompts}, {blocks}{quick}.")
    if submission.tier == "imported":
        lines += folded(f"{sentence('imported')}.")
    doubts = [each for kind in ("serious", "caution") for each in flags if each.severity == kind]
    if doubts:
        others = len(doubts) - 1
        more = f" There are {say.count(others, 'other doubt')}." if others else ""
        lines += folded(f"Doubt ({doubts[0].name}): {doubts[0].message}{more}")
    command = pasted([*PROGRAM.split(), "show", str(path), "--details"])
    return [*lines, f"All figures: {command}"]
