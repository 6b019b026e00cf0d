"""Define the commands `form` and `send-form`, for a result that is sent without git.

`form` runs without write access: it reads the event of an issue and judges the result. `send-form`
has write access but uses only the bytes of the judged result, from which it makes the same commit
again.
"""

import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from pipeline.collection.discover import require_writable
from pipeline.errors import PipelineError, ending
from pipeline.intake import comment, form, host, neighbours, reply
from pipeline.intake.authorship import Sending
from pipeline.intake.paths import PUBLISHED
from pipeline.intake.withdrawals import FOLDER
from schemas.codec import FILE_NAME
from schemas.strict import MAX_BYTES

MARKER = "<!-- draftmap: form -->"
VERDICT, SUMMARY, RESULT = "verdict.json", "summary.md", "result.json"
_FOLDER = re.compile(rf"{re.escape(FOLDER)}(/[0-9]{{4}}/[0-9]{{2}})?|{re.escape(PUBLISHED)}")
Event = Annotated[
    Path, typer.Option(envvar="GITHUB_EVENT_PATH", help="The event file, as GitHub wrote it.")
]
Clone = Annotated[Path, typer.Option(help="Clone that contains the base revision.")]


def form_command(
    *,
    event: Event,
    base: Annotated[str, typer.Option(help="Revision to which the result is added.")] = "HEAD",
    clone: Clone = Path(),
    output: Annotated[Path, typer.Option(help="Folder for the reply and the result.")],
) -> None:
    """Judge the result in an issue form. Exit code 0: there is a reply; see verdict.json."""
    with ending():
        require_writable(output)
        filled = form.read_event(event)
        sent = Sending(author=filled.user.login, now=datetime.now(UTC))
        proposal = form.propose(clone, base, filled, sent)
        answer = reply.reply(proposal.judgement, neighbours.understood(clone, proposal.judgement))
    output.mkdir(parents=True, exist_ok=True)
    (output / VERDICT).write_bytes(reply.to_bytes(answer))
    (output / SUMMARY).write_text(comment.body(answer, of_form=True), "utf-8")
    if answer.decision == "accepted":
        (output / RESULT).write_bytes(proposal.data)
    typer.echo(reply.note(answer))


def send_command(
    *,
    event: Event,
    folder: Annotated[Path, typer.Option(help="Folder that the command `form` wrote.")],
    repository: Annotated[str, typer.Option(envvar="REPOSITORY", help="OWNER/NAME.")],
    branch: Annotated[str, typer.Option(envvar="BRANCH", help="Branch to merge into.")],
    clone: Clone = Path(),
) -> None:
    """Answer an issue form, and open the pull request of an accepted result."""
    with ending():
        typer.echo(send(form.read_event(event), folder, repository, branch, clone))


def send(filled: form.Form, folder: Path, repository: str, branch: str, clone: Path) -> str:
    """Answer a form; open a pull request for an accepted result. Return a summary in words."""
    answer = reply.from_file(folder / VERDICT)
    now = host.issue_text(repository, filled.number)
    if sha256(now.encode()).hexdigest() != filled.digest:
        return f"Issue {filled.number} was edited in the meantime; its new text gets its own check."
    if answer.decision != "accepted":
        _answer(repository, filled.number, comment.body(answer, of_form=True))
        return f"Issue {filled.number}: answered with the errors."
    owner = repository.partition("/")[0]
    if host.pull_requests(repository, "all", f"{owner}:{filled.branch}"):
        text = (
            "A pull request was already opened from this form. Send a changed result with a new "
            "form.\n"
        )
        _answer(repository, filled.number, text)
        return f"Issue {filled.number}: answered that the form already has a pull request."
    sha = _repeated(filled, answer, folder, clone)
    host.push(clone, repository, sha, filled.branch)
    title = f"Result from the form #{filled.number}"
    body = f"Sent by @{filled.user.login} through the form. Closes #{filled.number}."
    number = host.open_pull_request(repository, filled.branch, branch, title, body)
    host.set_status(repository, sha, f"Checked for the form #{filled.number}")
    host.put_comment(repository, number, None, comment.body(answer))
    _answer(repository, filled.number, f"Thank you. This form became pull request #{number}.\n")
    return f"Issue {filled.number}: pull request {number}."


def _repeated(filled: form.Form, answer: reply.Reply, folder: Path, clone: Path) -> str:
    """Make the judged commit again. Raises `PipelineError` if the result is a different commit."""
    path = answer.results[0].file if len(answer.results) == 1 else ""
    place, _, name = path.rpartition("/")
    data = (folder / RESULT).read_bytes()[: MAX_BYTES + 1]
    if not (_FOLDER.fullmatch(place) and FILE_NAME.fullmatch(name)):
        raise PipelineError(f"{path!a} is not a valid result path")
    sha = form.commit(clone, answer.base, filled, path, data)
    if sha != answer.head:
        raise PipelineError(f"the result differs from the judged result ({answer.head[:10]})")
    return sha


def _answer(repository: str, issue: int, text: str) -> None:
    before = host.comment_of_ours(repository, issue, MARKER)
    host.put_comment(repository, issue, before, f"{MARKER}\n{text}")
