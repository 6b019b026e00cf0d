"""`draftmap submit`: copy a result to its place and open the pull request, or print how to."""

import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness import PROGRAM, console
from harness.machine.command_line import pasted
from harness.run.request import check_contributor
from harness.submit import pull_request as submission

# What puts the output of a command on the clipboard.
_COPIERS = {"win32": "clip", "darwin": "pbcopy"}
_OF_LINUX = ("wl-copy", "xclip -selection clipboard")


@console.reports_errors
def submit(
    *,
    file: Annotated[
        Path,
        typer.Argument(help="A result file written by `python -m harness run`.", metavar="FILE"),
    ],
    repository: Annotated[
        Path | None,
        typer.Option(
            help="Your clone of the project. Default: the one you are in.", metavar="FOLDER"
        ),
    ] = None,
    supersedes: Annotated[
        str | None,
        typer.Option(help="File name of an earlier result of yours to replace.", metavar="NAME"),
    ] = None,
    contributor: Annotated[
        str | None,
        typer.Option(help="Your GitHub user name, if the file does not name you.", metavar="NAME"),
    ] = None,
    without_git: Annotated[
        bool,
        typer.Option("--without-git", help="Print the result as text for the issue form instead."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Open the pull request without asking.")
    ] = False,
) -> None:
    """Send a result: by `gh`, by `git`, or through the issue form, whichever fits this machine.

    A result is sent by the person whom it names; to send somebody else's, ask a maintainer for the
    label `on-behalf`.
    """
    check_contributor(contributor)
    accepted = submission.signed(submission.accepted(file), contributor)
    if accepted.contributor is None:
        console.say(
            "This result names nobody, so that nobody can replace or withdraw it as their own: "
            "name yourself with --contributor NAME."
        )
    if without_git:
        text = submission.as_text(replace(accepted, supersedes=supersedes or accepted.supersedes))
        form = submission.form_address() or "the repository: New issue, Send a result without git"
        console.say(f"Paste these lines into the form of {form}")
        typer.echo(text, nl=False)
        return
    checkout = submission.find_checkout((repository or Path()).resolve())
    if supersedes is not None:
        accepted = submission.replacing(accepted, supersedes, checkout)
    path = submission.write_result(accepted, checkout)
    typer.echo(path.relative_to(checkout).as_posix())
    if (day := submission.accepted_since(path, checkout)) is not None:
        console.say(f"Already accepted, since {day}: {path.relative_to(checkout).as_posix()}")
        return
    if submission.was_submitted(path, checkout):
        branch = submission.branch(path)
        console.say(f"Already sent, or begun: your clone has the branch {branch}.")
        console.say(f"To send it again, delete the branch first: git branch -D {branch}")
        return
    given = {"--supersedes": supersedes, "--contributor": contributor}
    more = [word for flag, value in given.items() if value for word in (flag, value)]
    _send((str(file), *more), path, checkout, yes=yes)


def _send(file: Sequence[str], path: Path, checkout: Path, *, yes: bool) -> None:
    """Open the pull request, or name the ways to send the result."""
    obstacle = submission.obstacle(checkout)
    steps = submission.steps(path, checkout, None if obstacle else submission.login(checkout))
    consents = yes or (sys.stdin.isatty() and not obstacle)
    if not obstacle and consents and (yes or typer.confirm("Open the pull request now?", err=True)):
        for step in submission.open_pull_request(steps, checkout):
            console.say(step)
        return
    for line in _ways(file, steps, obstacle):
        console.say(line)


def _ways(
    file: Sequence[str], steps: Iterable[Sequence[str]], obstacle: str | None
) -> Iterator[str]:
    """The three ways to send a result, and which of them fits this machine."""
    yield "Three ways to send it:"
    resubmit = (*PROGRAM.split(), "submit", *file)
    gh = f"not here: {obstacle}" if obstacle else pasted([*resubmit, "--yes"])
    yield f"1. gh opens the pull request: {gh}"
    if shutil.which("git") is None:
        yield "2. git: not here, it is not installed"
    else:
        yield "2. git, in a clone of your fork, then a pull request for the branch on GitHub:"
        yield from (f"     {pasted(step)}" for step in steps if step[0] != "gh")
    installed = (tool for tool in _OF_LINUX if shutil.which(tool.partition(" ")[0]))
    copier = _COPIERS.get(sys.platform) or next(installed, None)
    copy = f" | {copier}" if copier else ""
    form = pasted([*resubmit, "--without-git"])
    yield f"3. The issue form, without git: {form}{copy}"
