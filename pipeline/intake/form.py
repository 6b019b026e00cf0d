"""Turn a result in an issue form into a pull request: the commands `form` and `send-form`.

`form` runs without write access: it reads the event of an issue and judges the result. `send-form`
has write access but uses only the bytes of the judged result, from which it makes the same commit
again. The form's title, file names and other text are never used.
"""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from estimates.identity import canonical_name
from pipeline.collection.discover import require_writable
from pipeline.errors import PipelineError, ending
from pipeline.intake import comment, figure_form, gate, git, host, reply
from pipeline.intake.authorship import Sending
from pipeline.intake.host import Account, event_of
from pipeline.intake.paths import FOLDER, PUBLISHED
from schemas import contract
from schemas.codec import FILE_NAME, canonical_bytes, encode, folder_of
from schemas.finding import ROOT, Finding
from schemas.posted import UnreadableTextError, from_text
from schemas.strict import MAX_BYTES

MARKER = "<!-- draftmap: form -->"
BOX = "I opened the address, and the page states this figure, its card, its model and its author."
RESULT = "result.json"
UNNAMED = f"{FOLDER}/{RESULT}"
SAME = "an existing result already has the same content; there is nothing left to do"
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_FOLDER = re.compile(rf"{re.escape(FOLDER)}(/[0-9]{{4}}/[0-9]{{2}})?|{re.escape(PUBLISHED)}")
EventFile = Annotated[
    Path, typer.Option(envvar="GITHUB_EVENT_PATH", help="The event file, as GitHub wrote it.")
]
Clone = Annotated[Path, typer.Option(help="Clone that contains the base revision.")]


class _Label(msgspec.Struct, frozen=True):
    name: str


FIGURE = _Label(name="figure")  # the form for a published figure


class IssueForm(msgspec.Struct, frozen=True):
    """A filled-in form: its issue, its author, and the text at the time of the event."""

    number: int
    user: Account
    updated_at: str
    body: str | None = None
    labels: tuple[_Label, ...] = ()

    @property
    def branch(self) -> str:
        return f"form/{self.number}"


class _Event(msgspec.Struct, frozen=True):
    issue: IssueForm


def form_command(
    *,
    event: EventFile,
    base: Annotated[str, typer.Option(help="Revision to which the result is added.")] = "HEAD",
    clone: Clone = Path(),
    output: Annotated[Path, typer.Option(help="Folder for the reply and the result.")],
) -> None:
    """Judge the result in an issue form. Exit code 0: there is a reply; see verdict.json."""
    with ending():
        require_writable(output)
        filled = read_event(event)
        sent = Sending(author=filled.user.login, now=datetime.now(UTC))
        judgement, data = propose(clone, base, filled, sent)
        answer = reply.reply(judgement)
    comment.write(answer, output, of_form=True)
    if answer.decision == "accepted":
        (output / RESULT).write_bytes(data)
    typer.echo(reply.note(answer))


def send_command(
    *,
    event: EventFile,
    folder: Annotated[Path, typer.Option(help="Folder that the command `form` wrote.")],
    repository: Annotated[str, typer.Option(envvar="REPOSITORY", help="OWNER/NAME.")],
    branch: Annotated[str, typer.Option(envvar="BRANCH", help="Branch to merge into.")],
    clone: Clone = Path(),
) -> None:
    """Answer an issue form, and open the pull request of an accepted result."""
    with ending():
        typer.echo(_send(read_event(event), folder, repository, branch, clone))


def read_event(path: Path) -> IssueForm:
    """The form in a file with a GitHub event. Raises `PipelineError` for anything else."""
    issue = event_of(_Event, path).issue
    if not _LOGIN.fullmatch(issue.user.login):
        raise PipelineError(f"{issue.user.login!a} is not an account that can send a result")
    return issue


def propose(
    repository: Path, base: str, form: IssueForm, sent: Sending
) -> tuple[gate.Judgement, bytes]:
    """Judge a form's result as a commit on `base` and on no branch; return its bytes, too."""
    base = git.commit(repository, base)
    is_figure = FIGURE in form.labels
    folder = PUBLISHED if is_figure else FOLDER
    there = git.files(repository, base, folder)
    try:
        if is_figure:
            answers = figure_form.answers_of(form.body or "")
            day, by = form.updated_at[:10], form.user.login
            name, data = figure_form.published(answers, day, reported_by=by)
        else:
            data = posted(form.body or "")
            read = contract.read(data, file=UNNAMED, now=sent.now)
            if isinstance(read, tuple):
                return _refused(base, form, read)
            data = canonical_bytes(encode(read))
            name = canonical_name(read, data)
            folder = f"{folder}/{folder_of(name, len(there))}".rstrip("/")
    except UnreadableTextError as error:
        return _refused(base, form, (_finding(str(error), "form-text"),))
    if name in there:  # committing an identical file would change nothing
        return _refused(base, form, (_finding(SAME, "path-duplicate"),))
    head = _commit(repository, base, form, f"{folder}/{name}", data)
    sent = replace(sent, of_form=is_figure)
    return gate.judge(repository, base=base, head=head, sent=sent), data


def _finding(message: str, rule: str) -> Finding:
    return Finding(file=UNNAMED, path=ROOT, message=message, rule=rule)


def _refused(
    base: str, form: IssueForm, findings: tuple[Finding, ...]
) -> tuple[gate.Judgement, bytes]:
    judgement = gate.Judgement(
        base=base,
        head=base,
        decision="rejected",
        results=(UNNAMED,),
        findings=findings,
        author=form.user.login,
    )
    return judgement, b""


def posted(body: str) -> bytes:
    """The only result in a form's text. Raises `UnreadableTextError` for anything else."""
    data = from_text(body)
    if data is None:
        raise UnreadableTextError(
            "the form has no result; paste the text that `draftmap submit --without-git FILE` "
            "prints"
        )
    return data


def _commit(repository: Path, base: str, form: IssueForm, path: str, data: bytes) -> str:
    """Commit a form's result and return the commit's id; the same form gives the same commit."""
    title = f"Result: {Path(path).stem}"
    return git.commit_file(
        repository, base, path, data, author=form.user.author, moment=form.updated_at, title=title
    )


def _send(filled: IssueForm, folder: Path, repository: str, branch: str, clone: Path) -> str:
    """Answer a form; open a pull request for an accepted result. Return a summary in words."""
    answer = reply.from_file(folder / reply.VERDICT)
    if host.issue_text(repository, filled.number) != (filled.body or ""):
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
    sha = _judged_commit(filled, answer, folder, clone)
    host.push(clone, repository, sha, filled.branch)
    title = f"Result from the form #{filled.number}"
    body = f"Sent by @{filled.user.login} through the form. Closes #{filled.number}."
    if FIGURE in filled.labels:
        body += f"\n\n- [ ] {BOX}\n"
    number = host.open_pull_request(repository, filled.branch, branch, title, body)
    host.set_status(repository, sha, f"Checked for the form #{filled.number}")
    host.put_comment(repository, number, None, comment.body(answer))
    _answer(repository, filled.number, f"Thank you. This form became pull request #{number}.\n")
    return f"Issue {filled.number}: pull request {number}."


def _judged_commit(filled: IssueForm, answer: reply.Reply, folder: Path, clone: Path) -> str:
    """Make the judged commit again. Raises `PipelineError` if the result is a different commit."""
    path = answer.results[0].file if len(answer.results) == 1 else ""
    place, _, name = path.rpartition("/")
    if not (_FOLDER.fullmatch(place) and FILE_NAME.fullmatch(name)):
        raise PipelineError(f"{path!a} is not a valid result path")
    data = (folder / RESULT).read_bytes()[: MAX_BYTES + 1]
    sha = _commit(clone, answer.base, filled, path, data)
    if sha != answer.head:
        raise PipelineError(f"the result differs from the judged result ({answer.head[:10]})")
    return sha


def _answer(repository: str, issue: int, text: str) -> None:
    before = host.comment_of_ours(repository, issue, MARKER)
    host.put_comment(repository, issue, before, f"{MARKER}\n{text}")
