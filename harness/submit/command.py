"""`draftmap submit`: push a branch with a result and open its pull request, or print the ways."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from harness import PROGRAM, console, files
from harness.command_options import offers_fields
from harness.machine.command_line import pasted
from harness.options import option
from harness.run.request import check_contributor
from harness.submit import pull_request as submission
from schemas.codec import Json
from schemas.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitOptions:
    """The destination of a result, and its contributor."""

    repository: Path | None = option(
        "Your clone of the project. Default: the clone in the current directory.", metavar="FOLDER"
    )
    contributor: str | None = option(
        "Your GitHub user name, if the file does not contain it.", metavar="NAME"
    )
    without_git: bool = option(
        "Print the result as text for the issue form instead of using git.", default=False
    )
    yes: bool = option(
        "Send the result without asking: push a branch, and open the pull request if `gh` is "
        "logged in.",
        short="-y",
        default=False,
    )
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
    """Send a result with `git` and `gh`, or as text for the issue form.

    The contributor named in a result must send it. To send another person's result, ask a
    maintainer for the label `on-behalf`.
    """
    check_contributor(options.contributor)
    result = submission.accepted(files.result_bytes(file), file.name)
    result = submission.signed(result, options.contributor)
    if result.contributor is None:
        console.say(
            "This result has no contributor, so nobody can later withdraw it as their own: "
            "name yourself with --contributor NAME."
        )
    if options.without_git:
        _print_text(result, file.name)
        return
    clone = submission.find_clone((options.repository or Path()).resolve())
    _send(result, file, clone, options)


def _print_text(result: Submission, name: str) -> None:
    submission.require_sendable(result, name, login=None)
    form = submission.form_address()
    form = form or "in the repository, choose New issue, then Send a result without git"
    text = submission.as_text(result)
    console.say(f"Paste these lines into the form: {form}")
    typer.echo(text, nl=False)


def _send(result: Submission, file: Path, clone: submission.Clone, options: SubmitOptions) -> None:
    """Send the result if the user agrees; otherwise print the ways to send it."""
    author = submission.login(clone)
    submission.require_sendable(result, file.name, login=author)
    path = submission.place(result, clone)
    before = f"Already accepted: {path}" if path in clone.results() else None
    sending, form = (pasted(each) for each in _commands(file, options))
    if options.json:
        steps: list[Json] = [] if before else [sending, form]
        console.print_json({"result": path, "already": before, "steps": steps})
    else:
        typer.echo(path)
    asks = sys.stdin.isatty() and not options.json
    question = "Open the pull request now?" if author else "Push a branch with the result now?"
    if before:
        lines = iter((before,))
    elif options.yes or (asks and typer.confirm(question, err=True)):
        lines = submission.send(result, path, clone, author)
    else:
        lines = _ways(sending, form, author)
    for line in lines:
        console.say(line)


def _commands(file: Path, options: SubmitOptions) -> Iterator[list[str]]:
    """Yield the commands that send the file with git, and through the form."""
    given = {
        "--contributor": options.contributor,
        "--repository": options.repository and str(options.repository),
    }
    more = [word for flag, value in given.items() if value for word in (flag, value)]
    for way in ("--yes", "--without-git"):
        yield [*PROGRAM.split(), "submit", str(file), *more, way]


def _ways(sending: str, form: str, author: str | None) -> Iterator[str]:
    """Yield the two ways to send a result."""
    yield "Two ways to send it:"
    opens = "gh opens" if author else "you open (or gh, once `gh auth login` has logged in)"
    yield f"1. git pushes a branch, and {opens} the pull request: {sending}"
    yield f"2. The issue form, without git: {form}"
