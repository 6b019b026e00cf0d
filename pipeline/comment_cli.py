"""How does the verdict get under the pull request? `python -m pipeline.comment_cli --verdict …`.

It runs with the right to write comments, so it trusts nobody: the verdict is checked against its
schema, the Markdown is made here, and a pull request that changes the checks themselves gets no
verdict, because the file may then come from the pull request's own workflow.
"""

from __future__ import annotations

import re
from pathlib import Path  # noqa: TC003 - typer reads the annotations while it runs
from typing import Annotated

import typer

from pipeline import host
from pipeline.comment import SHORT_ID, body
from pipeline.errors import PipelineError
from pipeline.gate_paths import is_result_path
from pipeline.report import UnreadableVerdictError, from_file

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
        typer.echo(comment(verdict, repository, given))
    except PipelineError as error:
        typer.echo(error, err=True)
        raise typer.Exit(error.exit_code) from error


def comment(verdict: Path, repository: str, head: host.Head) -> str:
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


if __name__ == "__main__":
    typer.run(comment_command)
