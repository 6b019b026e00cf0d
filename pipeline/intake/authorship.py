"""Check the sender, the file name and the date of each result of a pull request.

The contributor of a result is the author of its pull request: one account has one vote. Labels show
a maintainer's consent, because only maintainers can set them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from estimates.identity import canonical_name
from pipeline.errors import PipelineError
from pipeline.intake import git
from schemas.codec import content_digest
from schemas.finding import ROOT, Finding, in_file, shown
from schemas.migrations import forms
from schemas.sending import ON_BEHALF, findings_on_sending
from schemas.submission import Submission

ROBOT = "github-actions[bot]"
MAX_RESULTS = 100  # in one pull request


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """The circumstances of a pull request: the sender, the labels, and the current time.

    `None` means unknown, for example before a pull request exists; checks that depend on an unknown
    value are skipped. `of_form` means that our own workflow created the branch from an issue form;
    `checker` is the maintainer whose tick our workflow committed to that branch.
    """

    author: str | None = None
    labels: frozenset[str] = frozenset()
    now: datetime | None = None
    of_form: bool = False
    checker: str | None = None

    @property
    def contributor(self) -> str | None:
        """The only contributor that results may name; `None` if they may name any account."""
        return None if ON_BEHALF in self.labels else self.author


UNKNOWN = Sending()


def sending(
    repository: Path, base: str, head: str, author: str, given: Mapping[str, str]
) -> Sending:
    """The circumstances of a pull request that its workflow states in variables, such as `LABELS`.

    The contributor is the author, or whoever filled in the form from which our own workflow made
    the pull request. Only our workflow may bring other people's results, from a branch of our own
    repository, where nobody else can push. The contributor is then the author of the commit that
    added the files, whoever merged something into the branch. The text of the pull request has no
    effect. Raises `PipelineError` for labels that are not a JSON list.
    """
    base, head = git.commit(repository, base), git.commit(repository, head)
    is_ours = bool(own := given.get("REPOSITORY")) and given.get("HEAD_REPOSITORY") == own
    of_form = is_ours and author == ROBOT
    contributor, checker = author, None
    if of_form:
        added = [each.path for each in git.changes(repository, base, head) if each.status == "A"]
        names = git.authors(repository, head, added[:MAX_RESULTS])
        contributor = (next(iter(names)) if len(names) == 1 else "") or author
        checker = git.changed_later(repository, head, added[:MAX_RESULTS])
    labels = consent(
        given.get("LABELS") or "[]",
        given.get("LABEL", "") if given.get("ACTION") == "labeled" else "",
        head,
    )
    return Sending(author=contributor or None, labels=labels, of_form=of_form, checker=checker)


def consent(labels: str, event_label: str, head: str) -> frozenset[str]:
    """The labels that count for a commit: the label just set, and labels that name the commit.

    `on-behalf@COMMIT` with the commit's whole id counts whenever that commit is checked; another
    commit with the same first digits takes seconds to find. A label without a commit counts only
    for the commit on which it was set, not after another push.
    """
    try:
        named = [each.rpartition("@") for each in msgspec.json.decode(labels, type=frozenset[str])]
    except msgspec.DecodeError as error:
        raise PipelineError(f"LABELS {shown(labels)} is not a JSON list of names") from error
    of_head = {name for name, _, commit in named if commit == head}
    return frozenset({event_label, *of_head} - {""})


def sending_findings(path: str, submission: Submission, sent: Sending) -> Iterator[Finding]:
    """Findings on the sender, the file name and the date of a valid submission at `path`."""
    name = path.rpartition("/")[2]
    # The day and digest in the path were already compared with the bytes, which may be in an older
    # format.
    start = canonical_name(submission, b"").rpartition("--")[0]
    expected = f"{start}--{name.rpartition('--')[2]}"
    if name != expected:
        message = (
            f"the file is named {shown(name)}, but its content requires the name {expected}; "
            "rename the file"
        )
        yield Finding(file=path, path=ROOT, message=message, rule="canonical-name")
    found = findings_on_sending(
        submission, contributor=sent.contributor, labels=sent.labels, now=sent.now
    )
    yield from in_file(found, path)


def twin_findings(new: Mapping[str, Submission], names: Iterable[str]) -> Iterator[Finding]:
    """Findings on new results whose content already exists in another version of the format."""
    taken = {name.removesuffix(".json").rpartition("-")[2] for name in names}
    message = "the same content exists in another version of the format; send the result only once"
    for path, submission in sorted(new.items()):
        own = path.removesuffix(".json").rpartition("-")[2]
        forms_of_it = {content_digest(data) for data in forms(submission)}
        if (forms_of_it - {own}) & taken:
            yield Finding(file=path, path=ROOT, message=message, rule="duplicate")
        taken |= {own}
