"""Record that a maintainer checked the figure of a form: the command `checked`.

The pull request of a form has a box to tick. Only people with write access can edit the pull
request of our own workflow. The command adds their account as `checked_by` to the figure's file.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from pipeline.errors import PipelineError, ending
from pipeline.intake import gate, git, host, reply
from pipeline.intake.authorship import ROBOT, sending
from pipeline.intake.form import BOX, EventFile
from pipeline.intake.host import Account, event_of
from pipeline.intake.paths import PUBLISHED


class _Commit(msgspec.Struct, frozen=True):
    ref: str
    sha: str


class _PullRequest(msgspec.Struct, frozen=True):
    number: int
    head: _Commit
    base: _Commit
    updated_at: str
    body: str | None = None


class _Edit(msgspec.Struct, frozen=True):
    """An edit of a pull request's description, and who edited it."""

    sender: Account
    pull_request: _PullRequest


def checked_command(
    *,
    event: EventFile,
    repository: Annotated[str, typer.Option(envvar="REPOSITORY", help="OWNER/NAME.")],
    clone: Annotated[Path, typer.Option(help="Clone that contains both revisions.")] = Path(),
) -> None:
    """Record a ticked box in the pull request of a form."""
    with ending():
        typer.echo(_record(event_of(_Edit, event), repository, clone))


def _record(edit: _Edit, repository: str, clone: Path) -> str:
    asked, who = edit.pull_request, edit.sender.login
    if f"- [x] {BOX}" not in (asked.body or ""):
        return f"Pull request {asked.number}: the box is not ticked."
    if not host.may_write(repository, who):
        raise PipelineError(f"{who!a} may not write to the repository, so nothing was recorded")
    added = git.changes(clone, asked.base.sha, asked.head.sha)
    if len(added) != 1 or not added[0].path.startswith(f"{PUBLISHED}/"):
        raise PipelineError(f"pull request {asked.number} is not one added figure")
    ((path, data),) = git.contents(clone, {added[0].path: added[0].blob})
    document = json.loads(data)
    if "checked_by" in document:
        return f"Pull request {asked.number}: the check is already recorded."
    text = json.dumps(document | {"checked_by": who}, indent=2, ensure_ascii=False)
    sha = git.commit_file(
        clone, asked.head.sha, path, f"{text}\n".encode(),
        author=edit.sender.author, moment=asked.updated_at, title=f"Checked by {who}",
    )  # fmt: skip
    ours = {"REPOSITORY": repository, "HEAD_REPOSITORY": repository}
    sent = sending(clone, asked.base.sha, sha, ROBOT, ours)
    sent = replace(sent, now=datetime.now(UTC))
    judgement = gate.judge(clone, base=asked.base.sha, head=sha, sent=sent)
    if judgement.decision != "accepted":
        raise PipelineError("\n".join(reply.lines(judgement)))
    host.push(clone, repository, sha, asked.head.ref, before=asked.head.sha)
    host.set_status(repository, sha, f"Checked by {who}")
    return f"Pull request {asked.number}: checked by {who}."
