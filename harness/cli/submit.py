"""`draftmap submit`: put a result in its place and open the pull request, or say how."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness import submit as submission
from harness.cli import talk


@talk.reports_errors
def submit(
    *,
    file: Annotated[Path, typer.Argument(help="A result file of `draftmap run`.")],
    repository: Annotated[
        Path | None, typer.Option(help="Your checkout of the project. Default: found from here.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Open the pull request without asking.")
    ] = False,
) -> None:
    """Check a result, copy it to `results/community/` and open a pull request with `gh`.

    Without `gh`, or without your consent, it prints the commands to run yourself.
    """
    accepted = submission.accepted(file)
    checkout = submission.find_checkout((repository or Path()).resolve())
    path = submission.place(accepted, checkout)
    typer.echo(path.relative_to(checkout).as_posix())
    steps = submission.steps(path, checkout)
    if submission.can_open_pull_requests(checkout) and _agreed(yes=yes):
        for step in submission.open_pull_request(steps, checkout):
            talk.say(step)
        return
    talk.say("To open the pull request, run in the checkout:")
    for command in steps:
        talk.say("  " + submission.as_line(command))


def _agreed(*, yes: bool) -> bool:
    return yes or (sys.stdin.isatty() and typer.confirm("Open the pull request now?", err=True))
