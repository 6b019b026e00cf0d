"""Read a result from a GitHub event about an issue form, and turn it into a commit.

Only the bytes of the result are used, not the form's title, file names or other text.
"""

import re
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from urllib.error import URLError

import msgspec

from estimates.identity import canonical_name
from pipeline.errors import PipelineError
from pipeline.intake import figure_form, gate, git, paths
from pipeline.intake.authorship import Sending
from pipeline.intake.host import ROBOT
from pipeline.intake.reference import Judged, compared
from pipeline.intake.withdrawals import FOLDER
from schemas import contract
from schemas.codec import canonical_bytes, encode, folder_of
from schemas.finding import ROOT, Finding
from schemas.posted import UnreadableTextError, from_text
from schemas.strict import MAX_BYTES

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
UNNAMED = f"{FOLDER}/result.json"
SAME = "an existing result already has the same content; there is nothing left to do"
# GitHub's address of a file that was dragged into a form: a number and any name.
ATTACHED = re.compile(r"https://github\.com/user-attachments/files/[0-9]+/[A-Za-z0-9._-]+")
_TIMEOUT_S = 30


class _User(msgspec.Struct, frozen=True):
    login: str
    id: int


class _Label(msgspec.Struct, frozen=True):
    name: str


class Form(msgspec.Struct, frozen=True):
    """A filled-in form: its issue, its author, and the text at the time of the event."""

    number: int
    user: _User
    updated_at: str
    body: str | None = None
    labels: tuple[_Label, ...] = ()

    @property
    def digest(self) -> str:
        return sha256((self.body or "").encode()).hexdigest()

    @property
    def branch(self) -> str:
        return f"form/{self.number}"


FIGURE = _Label(name="figure")  # the form for a published figure


class _Event(msgspec.Struct, frozen=True):
    issue: Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The gate's judgement on a form's result, and the bytes of the result."""

    judgement: gate.Judgement
    data: bytes


def read_event(path: Path) -> Form:
    """The form in a file with a GitHub event. Raises `PipelineError` for anything else."""
    try:
        issue = msgspec.json.decode(path.read_bytes(), type=_Event).issue
    except (OSError, msgspec.DecodeError) as error:
        raise PipelineError(f"{path} is not the event of an issue ({error})") from error
    if not LOGIN.fullmatch(issue.user.login):
        raise PipelineError(f"{issue.user.login!a} is not an account that can send a result")
    return issue


def propose(repository: Path, base: str, form: Form, sent: Sending) -> Proposal:
    """Judge a form's result as a separate commit on `base`. The commit is on no branch."""
    base = git.commit(repository, base)
    is_figure = FIGURE in form.labels
    folder = paths.PUBLISHED if is_figure else FOLDER
    there = git.files(repository, base, folder)
    try:
        if is_figure:
            answers = figure_form.answers_of(form.body or "")
            name, data = figure_form.published(answers, form.updated_at[:10])
        else:
            data = posted(form.body or "")
            read = contract.read(data, file=UNNAMED, now=sent.now)
            if isinstance(read, tuple):
                judged = Judged(file=UNNAMED, data=data, kind="submission", findings=read)
                disagreements, late = compared([judged])
                return _refused(base, form, (*read, *disagreements), late)
            data = canonical_bytes(encode(read))
            name = canonical_name(read, data)
            folder = f"{folder}/{folder_of(name, len(there))}".rstrip("/")
    except UnreadableTextError as error:
        return _refused(base, form, (_finding(str(error), "form-text"),))
    if name in there:  # committing an identical file would change nothing
        return _refused(base, form, (_finding(SAME, "path-duplicate"),))
    head = commit(repository, base, form, f"{folder}/{name}", data)
    sent = replace(sent, of_form=True) if is_figure else sent
    return Proposal(judgement=gate.judge(repository, base=base, head=head, sent=sent), data=data)


def commit(repository: Path, base: str, form: Form, path: str, data: bytes) -> str:
    """Commit a form's result and return the commit's id; the same form gives the same commit."""
    name = form.user.login
    author = f"{name} <{form.user.id}+{name}@users.noreply.github.com>"
    title = f"Result: {Path(path).stem}"
    return git.commit_file(
        repository, base, path, data, author=author, moment=form.updated_at, title=title
    )


def sender(
    repository: Path, base: str, head: str, author: str | None, *, own_branch: bool
) -> str | None:
    """The contributor of a pull request: its author, or whoever filled in its form.

    Other people's results may come only from our own workflow, in a pull request from a branch of
    our own repository, because nobody else can push there. The contributor is then the author of
    the commit that added the files, whoever merged something into the branch. The text of the pull
    request has no effect.
    """
    if author != ROBOT or not own_branch:
        return author
    base, head = git.commit(repository, base), git.commit(repository, head)
    added = [each.path for each in git.changes(repository, base, head) if each.status == "A"]
    names = git.authors(repository, head, added[: gate.MAX_RESULTS])
    return (next(iter(names)) if len(names) == 1 else "") or author


def posted(body: str, fetch: Callable[[str], bytes] | None = None) -> bytes:
    """The only result in a form's text, or in the file attached to the form.

    Raises `UnreadableTextError` for a missing, repeated or damaged result.
    """
    data = from_text(body)
    attached = sorted(set(ATTACHED.findall(body)))
    if data is not None:
        if attached:
            raise UnreadableTextError(
                "the form has both a pasted text and an attached file; send only one of the two"
            )
        return data
    if len(attached) != 1:
        raise UnreadableTextError(
            f"the form has {len(attached)} attached files; attach one result"
            if attached
            else (
                "the form has no result; paste the text that `draftmap submit --without-git "
                "FILE` prints"
            )
        )
    data = (fetch or _fetched)(attached[0])
    try:
        return from_text(data.decode("ascii")) or data
    except UnicodeDecodeError:
        return data


def _fetched(address: str) -> bytes:
    """Download an attached file. Raises `UnreadableTextError` if it is too large for a result."""
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - the form of the address was checked
            data: bytes = answer.read(MAX_BYTES + 1)
    except (URLError, OSError) as error:
        raise UnreadableTextError(
            f"the attached file could not be read ({error}); paste the text instead"
        ) from error
    if len(data) > MAX_BYTES:
        raise UnreadableTextError(
            f"the attached file is larger than the limit of {MAX_BYTES:,} bytes"
        )
    return data


def _finding(message: str, rule: str) -> Finding:
    return Finding(file=UNNAMED, path=ROOT, message=message, rule=rule)


def _refused(
    base: str, form: Form, findings: tuple[Finding, ...], late: tuple[str, ...] = ()
) -> Proposal:
    judgement = gate.Judgement(
        base=base,
        head=base,
        decision="rejected",
        results=(UNNAMED,),
        findings=findings,
        author=form.user.login,
        late=late,
    )
    return Proposal(judgement=judgement, data=b"")
