"""`draftmap submit`: copy a result to its place and open the pull request, or print how to."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness import submit as submission
from harness.cli import console


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
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Open the pull request without asking.")
    ] = False,
) -> None:
    """Without `gh`, or without your consent, it prints the commands to run yourself.

    A result is sent by the person whom it names; to send somebody else's, ask a maintainer for the
    label `on-behalf`.
    """
    accepted = submission.accepted(file)
    checkout = submission.find_checkout((repository or Path()).resolve())
    if supersedes is not None:
        accepted = submission.replacing(accepted, supersedes, checkout)
    path = submission.place(accepted, checkout)
    typer.echo(path.relative_to(checkout).as_posix())
    if submission.was_submitted(path, checkout):
        branch = submission.branch(path)
        console.say(f"The branch {branch} exists: this result was submitted before, or almost.")
        console.say(f"To submit it again, delete the branch first: git branch -D {branch}")
        return
    _send(path, checkout, yes=yes)


def _send(path: Path, checkout: Path, *, yes: bool) -> None:
    """Open the pull request, or print the steps to it."""
    steps = submission.steps(path, checkout, submission.login(checkout))
    can_ask = sys.stdin.isatty()
    if submission.can_open_pull_requests(checkout) and (
        yes or (can_ask and typer.confirm("Open the pull request now?", err=True))
    ):
        for step in submission.open_pull_request(steps, checkout):
            console.say(step)
        return
    has_gh = shutil.which("gh") is not None
    console.say("To open the pull request, run in your clone:")
    for command in steps:
        if has_gh or command[0] != "gh":
            console.say("  " + submission.as_line(command))
    if not has_gh:
        console.say("Then open the pull request for that branch on GitHub.")
