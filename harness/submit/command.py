"""`draftmap submit`: copy a result into a clone and open a pull request, or print the steps."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from harness import PROGRAM, console
from harness.command_options import offers_fields
from harness.machine.command_line import pasted
from harness.options import option
from harness.run.request import check_contributor
from harness.submit import pull_request as submission
from schemas.codec import Json

# Programs that copy a command's output to the clipboard.
_COPIERS = {"win32": "clip", "darwin": "pbcopy"}
_OF_LINUX = ("wl-copy", "xclip -selection clipboard")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitOptions:
    """The destination of a result, its contributor, and the result that it replaces."""

    repository: Path | None = option(
        "Your clone of the project. Default: the clone in the current directory.", metavar="FOLDER"
    )
    supersedes: str | None = option(
        "File name of your earlier result that this result replaces.",
        metavar="NAME",
        parse=lambda text: Path(text).name,
    )
    contributor: str | None = option(
        "Your GitHub user name, if the file does not contain it.", metavar="NAME"
    )
    without_git: bool = option(
        "Print the result as text for the issue form instead of using git.", default=False
    )
    yes: bool = option("Open the pull request without asking.", short="-y", default=False)
    json: bool = option(
        "Print the location of the result and the next steps as JSON.", default=False
    )


@console.reports_errors
@offers_fields
def submit(
    file: Annotated[
        Path,
        typer.Argument(help="A result file written by `python -m harness run`.", metavar="FILE"),
    ],
    options: SubmitOptions,
) -> None:
    """Send a result with `gh`, with `git`, or through the issue form, depending on this machine.

    The contributor named in a result must send it. To send another person's result, ask a
    maintainer for the label `on-behalf`.
    """
    check_contributor(options.contributor)
    result = submission.signed(submission.accepted(file), options.contributor)
    if result.contributor is None:
        console.say(
            "This result has no contributor, so nobody can later replace or withdraw it as their "
            "own: name yourself with --contributor NAME."
        )
    if options.without_git:
        text = submission.as_text(
            replace(result, supersedes=options.supersedes or result.supersedes)
        )
        form = submission.form_address()
        form = form or "in the repository, choose New issue, then Send a result without git"
        console.say(f"Paste these lines into the form: {form}")
        typer.echo(text, nl=False)
        return
    checkout = submission.find_checkout((options.repository or Path()).resolve())
    if options.supersedes is not None:
        result = submission.replacing(result, options.supersedes, checkout)
    path = submission.write_result(result, checkout)
    given = {"--supersedes": options.supersedes, "--contributor": options.contributor}
    more = [word for flag, value in given.items() if value for word in (flag, value)]
    _send((str(file), *more), path, checkout, options)


def _send(file: Sequence[str], path: Path, checkout: Path, options: SubmitOptions) -> None:
    """Open the pull request, or print the ways to send the result."""
    placed, before = path.relative_to(checkout).as_posix(), _already(path, checkout)
    obstacle = submission.obstacle(checkout)
    steps = submission.steps(path, checkout, None if obstacle else submission.login(checkout))
    if options.json:
        able = [] if before else [step for step in steps if step[0] != "gh" or not obstacle]
        ways: list[Json] = [pasted(step) for step in able]
        console.print_json({"result": placed, "already": before, "steps": ways})
    else:
        typer.echo(placed)
    if before is not None:
        console.say(before)
        return
    asks = sys.stdin.isatty() and not (obstacle or options.json)
    consents = options.yes or (asks and typer.confirm("Open the pull request now?", err=True))
    if consents and not obstacle:
        for step in submission.open_pull_request(steps, checkout):
            console.say(step)
        return
    for line in _ways(file, steps, obstacle):
        console.say(line)


def _already(path: Path, checkout: Path) -> str | None:
    """Return why a result need not be sent, because it was sent before; `None` for a new one."""
    if (day := submission.accepted_since(path, checkout)) is not None:
        return f"Already accepted, since {day}: {path.relative_to(checkout).as_posix()}"
    if submission.was_submitted(path, checkout):
        branch = submission.branch(path)
        return (
            f"Already sent, or begun: your clone has the branch {branch}. To send it again, "
            f"delete the branch first: git branch -D {branch}"
        )
    return None


def _ways(
    file: Sequence[str], steps: Iterable[Sequence[str]], obstacle: str | None
) -> Iterator[str]:
    """Yield the three ways to send a result, marking those that this machine does not support."""
    yield "Three ways to send it:"
    resubmit = (*PROGRAM.split(), "submit", *file)
    gh = f"not here: {obstacle}" if obstacle else pasted([*resubmit, "--yes"])
    yield f"1. gh opens the pull request: {gh}"
    if shutil.which("git") is None:
        yield "2. git: not possible here, because git is not installed"
    else:
        yield "2. git, in a clone of your fork, then a pull request for the branch on GitHub:"
        yield from (f"     {pasted(step)}" for step in steps if step[0] != "gh")
    installed = (tool for tool in _OF_LINUX if shutil.which(tool.partition(" ")[0]))
    copier = _COPIERS.get(sys.platform) or next(installed, None)
    copy = f" | {copier}" if copier else ""
    form = pasted([*resubmit, "--without-git"])
    yield f"3. The issue form, without git: {form}{copy}"
