"""The gate on the command line: `python -m pipeline.intake gate` and `… comment`.

A module of its own, so that judging a pull request installs neither an engine nor a database.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from pipeline.collection.discover import require_writable
from pipeline.errors import PipelineError
from pipeline.intake import comment, gate, host, neighbours, verdict
from pipeline.intake.comment import SHORT_ID, body
from pipeline.intake.paths import is_result_path
from pipeline.intake.verdict import UnreadableVerdictError, from_file


def gate_command(  # noqa: PLR0913 - each option of the command is an argument
    *,
    base: Annotated[str, typer.Option(help="Revision that the pull request goes to.")],
    head: Annotated[str, typer.Option(help="Revision that it brings.")],
    repository: Annotated[Path, typer.Option(help="The clone that has both.")] = Path(),
    output: Annotated[
        Path | None, typer.Option(help="Folder for verdict.json and summary.md.")
    ] = None,
    author: Annotated[
        str | None, typer.Option(envvar="AUTHOR", help="Account that sends the results, if known.")
    ] = None,
    annotate: Annotated[bool, typer.Option(help="Print annotations for GitHub Actions.")] = False,
    step_summary: Annotated[
        Path | None,
        typer.Option(envvar="GITHUB_STEP_SUMMARY", help="File that the summary is added to."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the judgement as JSON.")] = False,
) -> None:
    """Judge the results that a pull request adds. Exit code 0: accepted, or none; 1: rejected."""
    try:
        if output is not None:
            require_writable(output)
        judgement = gate.judge(repository, base=base, head=head, author=author or None)
        report = neighbours.report(repository, judgement)
    except PipelineError as error:
        typer.echo(error, err=True)
        raise typer.Exit(error.exit_code) from error
    _print(judgement, report, as_json=as_json, annotate=annotate)
    if output is not None:
        _write(report, output)
    if step_summary is not None:
        with step_summary.open("a", encoding="utf-8") as stream:
            stream.write(comment.body(report))
    raise typer.Exit(1 if judgement.decision == "rejected" else 0)


def _print(
    judgement: gate.Judgement, report: verdict.Report, *, as_json: bool, annotate: bool
) -> None:
    if as_json:
        typer.echo(verdict.to_bytes(report), nl=False)
    else:
        for line in verdict.lines(judgement):
            typer.echo(line)
    if annotate:
        for line in verdict.commands(judgement):
            typer.echo(line)
    typer.echo(verdict.note(judgement), err=True)


def _write(report: verdict.Report, output: Path) -> None:
    output.mkdir(exist_ok=True)
    (output / "verdict.json").write_bytes(verdict.to_bytes(report))
    (output / "summary.md").write_text(comment.body(report), encoding="utf-8")


MARKER = "<!-- draftmap: verdict -->"
CHECKS = ".github/"
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")
_OWNER = re.compile(r"[A-Za-z0-9-]+(\[bot\])?")
_OWN_CHECKS = (
    "This pull request changes the project's own checks, so their verdict about it counts for "
    "nothing. A maintainer will read it. Results belong into a pull request of their own."
)
_UNJUDGED = (
    "The check did not come to its end, which is rarely the fault of a result. The log of the "
    "check named Submission says why; push again to repeat it, or ask here."
)


def comment_command(
    *,
    verdict: Annotated[Path, typer.Option(help="The verdict.json of the gate.")],
    repository: Annotated[str, typer.Option(envvar="REPOSITORY", help="OWNER/NAME.")],
    head: Annotated[str, typer.Option(envvar="HEAD", help="The commit that was judged.")],
    owner: Annotated[str, typer.Option(envvar="OWNER", help="Who owns the head's branch.")],
    branch: Annotated[str, typer.Option(envvar="BRANCH", help="The head's branch.")],
) -> None:
    """Write what the gate said under the pull request. Exit code 0: done, or nothing to say."""
    try:
        given = _head(repository, head, owner, branch)
        typer.echo(write_comment(verdict, repository, given))
    except PipelineError as error:
        typer.echo(error, err=True)
        raise typer.Exit(error.exit_code) from error


def write_comment(verdict: Path, repository: str, head: host.Head) -> str:
    """Write the comment if there is something to say, and return what was done."""
    number = host.pull_request(repository, head)
    if number is None:
        return f"No open pull request has {head.sha[:SHORT_ID]} as its newest commit; nothing said."
    before = host.comment_of_ours(repository, number, MARKER)
    text = _text(verdict, host.changed_paths(repository, number), head.sha)
    if text is None and before is None:
        return f"Pull request {number} touches no result; nothing said."
    text = text or "No result is left in this pull request, so there is nothing to judge.\n"
    host.put_comment(repository, number, before, f"{MARKER}\n{text}")
    return f"Pull request {number}: comment {'written' if before is None else 'written anew'}."


def _text(verdict: Path, paths: frozenset[str] | None, head: str) -> str | None:
    """What to say; `None` about a pull request that touches no result."""
    if paths is not None and not any(is_result_path(path) for path in paths):
        return None
    if paths is None or any(path.casefold().startswith(CHECKS) for path in paths):
        return f"## Not judged\n\n{_OWN_CHECKS}\n"
    try:
        report = from_file(verdict)
    except UnreadableVerdictError as error:
        typer.echo(error, err=True)
        return f"## Not judged\n\n{_UNJUDGED}\n"
    if report.head != head or report.decision == "no-result":
        typer.echo("verdict.json is about another commit", err=True)
        return f"## Not judged\n\n{_UNJUDGED}\n"
    return body(report)


def _head(repository: str, head: str, owner: str, branch: str) -> host.Head:
    """The words that go into addresses, checked; a branch may be named anything and is quoted."""
    fits = ((_REPOSITORY, repository), (_SHA, head), (_OWNER, owner))
    for form, value in fits:
        if not form.fullmatch(value):
            message = f"{value!a} is not what the code host would give; nothing said"
            raise PipelineError(message)
    return host.Head(sha=head, owner=owner, branch=branch)


app = typer.Typer(add_completion=False, no_args_is_help=True)
app.command("gate")(gate_command)
app.command("comment")(comment_command)
