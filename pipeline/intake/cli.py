"""Define the commands `gate` and `comment` of `python -m pipeline.intake`.

They are separate from the other commands, so that judging a pull request needs neither an engine
nor a database.
"""

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.collection.discover import require_writable
from pipeline.errors import PipelineError, ending
from pipeline.intake import comment, form, gate, host, paths, reply, tick
from pipeline.intake.authorship import sending


def _variable(name: str, meaning: str) -> Any:  # noqa: ANN401 - Typer's own
    """A command option that a workflow may set by an environment variable."""
    return typer.Option(envvar=name, help=meaning)


def gate_command(
    *,
    base: Annotated[str, typer.Option(help="Revision that the pull request is based on.")],
    head: Annotated[str, typer.Option(help="Newest revision of the pull request.")],
    repository: Annotated[Path, typer.Option(help="Clone that contains both revisions.")] = Path(),
    output: Annotated[
        Path | None, typer.Option(help="Folder for verdict.json and summary.md.")
    ] = None,
    author: Annotated[str, _variable("AUTHOR", "Account that opened the pull request.")] = "",
) -> None:
    """Check the results that a pull request adds. Exit code 0: accepted, or none; 1: rejected."""
    with ending():
        if output is not None:
            require_writable(output)
        sent = sending(repository, base, head, author, os.environ)
        sent = replace(sent, now=datetime.now(UTC))
        judgement = gate.judge(repository, base=base, head=head, sent=sent)
        # The summary shows the numbers of the written reply, which are rounded.
        answer = reply.from_bytes(reply.to_bytes(reply.reply(judgement)))
    for line in reply.lines(judgement):
        typer.echo(line)
    typer.echo(reply.note(answer), err=True)
    if output is not None:
        comment.write(answer, output)
    raise typer.Exit(1 if judgement.decision == "rejected" else 0)


MARKER = "<!-- draftmap: verdict -->"
CHECKS = ".github/"
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}")
_OWNER = re.compile(r"[A-Za-z0-9-]+(\[bot\])?")


def comment_command(
    *,
    verdict: Annotated[Path, typer.Option(help="The verdict.json that the gate wrote.")],
    repository: Annotated[str, _variable("REPOSITORY", "OWNER/NAME.")],
    head: Annotated[str, _variable("HEAD", "Commit that was checked.")],
    owner: Annotated[str, _variable("OWNER", "Owner of the pull request's branch.")],
    branch: Annotated[str, _variable("BRANCH", "Branch of the pull request.")],
) -> None:
    """Write the gate's reply as a comment. Exit code 0: written, or nothing to write."""
    with ending():
        # The parts of web addresses; a branch may have any name and is therefore quoted.
        for shape, value in ((_REPOSITORY, repository), (_SHA, head), (_OWNER, owner)):
            if not shape.fullmatch(value):
                raise PipelineError(f"{value!a} is not a value from GitHub; nothing was written")
        typer.echo(write_comment(verdict, repository, head, f"{owner}:{branch}"))


def write_comment(verdict: Path, repository: str, head: str, branch: str) -> str:
    """Write or update the comment if there is anything to say; return what was done, in words."""
    number = host.pull_requests(repository, "open", branch).get(head)
    if number is None:
        newest = head[: comment.SHORT_ID]
        return f"No open pull request has {newest} as its newest commit; nothing was written."
    before = host.comment_of_ours(repository, number, MARKER)
    text = _text(verdict, host.changed_paths(repository, number), head)
    if text is None and before is None:
        return f"Pull request {number} changes no results; nothing was written."
    text = text or "This pull request no longer changes results, so there is nothing to check.\n"
    host.put_comment(repository, number, before, f"{MARKER}\n{text}")
    return f"Pull request {number}: comment {'written' if before is None else 'updated'}."


def _text(verdict: Path, changed: frozenset[str] | None, head: str) -> str | None:
    """The text of the comment; `None` for a pull request that changes no results."""
    if changed is not None and not any(map(paths.is_data, changed)):
        return None
    if changed is None or any(path.casefold().startswith(CHECKS) for path in changed):
        return comment.not_checked("own-checks")
    try:
        answer = reply.from_file(verdict)
    except reply.UnreadableVerdictError as error:
        typer.echo(error, err=True)
        return comment.not_checked("unfinished")
    nothing = answer.decision == "no-result"
    if nothing and changed is not None and not any(map(paths.is_result, changed)):
        return None
    if answer.head != head or nothing:
        typer.echo("verdict.json is for a different commit", err=True)
        return comment.not_checked("unfinished")
    return comment.body(answer)


app = typer.Typer(add_completion=False, no_args_is_help=True)
app.command("gate")(gate_command)
app.command("comment")(comment_command)
app.command("form")(form.form_command)
app.command("send-form")(form.send_command)
app.command("checked")(tick.checked_command)
