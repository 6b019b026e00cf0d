"""Define the commands `gate` and `comment` of `python -m pipeline.intake`.

They are separate from the other commands, so that judging a pull request needs neither an engine
nor a database.
"""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from pipeline.collection.discover import require_writable
from pipeline.errors import PipelineError, ending
from pipeline.intake import comment, form, form_cli, gate, git, host, neighbours, paths, reply
from pipeline.intake.authorship import Sending
from schemas.finding import shown

_SHORTEST_ID = 7  # digits of a commit's id, as git shortens it


def _variable(name: str, meaning: str) -> Any:  # noqa: ANN401 - Typer's own
    """A command option that a workflow may set by an environment variable."""
    return typer.Option(envvar=name, help=meaning)


def gate_command(  # noqa: PLR0913 - each option of the command is an argument
    *,
    base: Annotated[str, typer.Option(help="Revision that the pull request is based on.")],
    head: Annotated[str, typer.Option(help="Newest revision of the pull request.")],
    repository: Annotated[Path, typer.Option(help="Clone that contains both revisions.")] = Path(),
    output: Annotated[
        Path | None, typer.Option(help="Folder for verdict.json and summary.md.")
    ] = None,
    author: Annotated[str, _variable("AUTHOR", "Account that opened the pull request.")] = "",
    label: Annotated[
        str, _variable("LABEL", "Label that was added, if the event is `labeled`.")
    ] = "",
    labels: Annotated[
        str, _variable("LABELS", "Labels of the pull request, as a JSON list.")
    ] = "[]",
    head_repository: Annotated[
        str, _variable("HEAD_REPOSITORY", "OWNER/NAME of the branch's repository.")
    ] = "",
    own_repository: Annotated[str, _variable("REPOSITORY", "OWNER/NAME of this repository.")] = "",
    action: Annotated[
        str, _variable("ACTION", "Name of the event; LABEL matters only for `labeled`.")
    ] = "",
    annotate: Annotated[bool, typer.Option(help="Print annotations for GitHub Actions.")] = False,
    step_summary: Annotated[
        Path | None, _variable("GITHUB_STEP_SUMMARY", "File to append the summary to.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the decision as JSON.")] = False,
) -> None:
    """Check the results that a pull request adds. Exit code 0: accepted, or none; 1: rejected."""
    with ending():
        if output is not None:
            require_writable(output)
        newest = git.commit(repository, head)
        given = consent(_labels(labels), label if action == "labeled" else "", newest)
        own = bool(own_repository) and head_repository == own_repository
        sender = form.sender(repository, base, head, author or None, own_branch=own)
        sent = Sending(
            author=sender,
            labels=given,
            now=datetime.now(UTC),
            of_form=own and author == host.ROBOT,
        )
        judgement = gate.judge(repository, base=base, head=head, sent=sent)
        answer = reply.reply(judgement, neighbours.understood(repository, judgement))
    _print(judgement, answer, as_json=as_json, annotate=annotate)
    _write(answer, output, step_summary)
    raise typer.Exit(1 if judgement.decision == "rejected" else 0)


def _labels(text: str) -> frozenset[str]:
    """The labels in a JSON list. Raises `PipelineError` for anything else."""
    try:
        return msgspec.json.decode(text, type=frozenset[str])
    except msgspec.DecodeError as error:
        raise PipelineError(f"--labels {shown(text)} is not a JSON list of names") from error


def consent(labels: frozenset[str], event_label: str, head: str) -> frozenset[str]:
    """The labels that count for a commit: the label just set, and labels that name the commit.

    `on-behalf@1a2b3c4` counts whenever that commit is checked. A label without a commit counts only
    for the commit on which it was set, not after another push.
    """
    named = (each.rpartition("@") for each in labels)
    of_head = {n for n, _, at in named if len(at) >= _SHORTEST_ID and head.startswith(at)}
    return frozenset({event_label, *of_head} - {""})


def _print(
    judgement: gate.Judgement, answer: reply.Reply, *, as_json: bool, annotate: bool
) -> None:
    if as_json:
        typer.echo(reply.to_bytes(answer), nl=False)
    else:
        for line in reply.lines(judgement):
            typer.echo(line)
    if annotate:
        for line in reply.annotations(judgement):
            typer.echo(line)
    typer.echo(reply.note(answer), err=True)


def _write(answer: reply.Reply, output: Path | None, step_summary: Path | None) -> None:
    if output is not None:
        output.mkdir(exist_ok=True)
        (output / "verdict.json").write_bytes(reply.to_bytes(answer))
        (output / "summary.md").write_text(comment.body(answer), encoding="utf-8")
    if step_summary is not None:
        with step_summary.open("a", encoding="utf-8") as stream:
            stream.write(comment.body(answer))


MARKER = "<!-- draftmap: verdict -->"
CHECKS = ".github/"
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}")
_OWNER = re.compile(r"[A-Za-z0-9-]+(\[bot\])?")
_OWN_CHECKS = (
    "This pull request changes the project's checks, so their findings do not count here. A "
    "maintainer will review it. Please put results into a separate pull request."
)
_UNFINISHED = (
    "The check did not finish; a result is rarely the cause. The log of the check named "
    "Submission shows the cause; push again to repeat the check, or ask here."
)


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
        return f"## Not checked\n\n{_OWN_CHECKS}\n"
    try:
        answer = reply.from_file(verdict)
    except reply.UnreadableVerdictError as error:
        typer.echo(error, err=True)
        return f"## Not checked\n\n{_UNFINISHED}\n"
    nothing = answer.decision == "no-result"
    if nothing and changed is not None and not any(map(paths.is_result, changed)):
        return None
    if answer.head != head or nothing:
        typer.echo("verdict.json is for a different commit", err=True)
        return f"## Not checked\n\n{_UNFINISHED}\n"
    return comment.body(answer)


app = typer.Typer(add_completion=False, no_args_is_help=True)
app.command("gate")(gate_command)
app.command("comment")(comment_command)
app.command("form")(form_cli.form_command)
app.command("send-form")(form_cli.send_command)
