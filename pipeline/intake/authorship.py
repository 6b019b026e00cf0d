"""Check the sender, the file name and the date of each result of a pull request.

The contributor of a result is the author of its pull request: one account has one vote. Labels show
a maintainer's consent, because only maintainers can set them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from estimates.identity import canonical_name
from schemas.codec import content_digest
from schemas.finding import ROOT, Finding, in_file, shown
from schemas.migrations import forms
from schemas.rules.contradictions import measured_in_future
from schemas.submission import Submission

ON_BEHALF = "on-behalf"  # the label that permits sending for another contributor
# The dates of the first commit of llama.cpp and of the first release of vLLM. Nobody measured
# speculative decoding of language models before the first paper on it (arXiv 2211.17192).
_FIRST_DAYS = {"llama.cpp": "2023-03-10", "vllm": "2023-06-20"}
_FIRST_PAPER = "2022-11-30"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """The circumstances of a pull request: the sender, the labels, and the current time.

    `None` means unknown, for example before a pull request exists; checks that depend on an unknown
    value are skipped. `of_form` means that our own workflow created the branch from an issue form.
    """

    author: str | None = None
    labels: frozenset[str] = frozenset()
    now: datetime | None = None
    of_form: bool = False

    @property
    def contributor(self) -> str | None:
        """The only contributor that results may name; `None` if they may name any account."""
        return None if ON_BEHALF in self.labels else self.author


UNKNOWN = Sending()


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
    own, author = submission.contributor, sent.contributor
    if own is not None and author is not None and own.lower() != author.lower():
        message = (
            f"the result names {own}, but the pull request is by {author}; write your GitHub "
            f"user name, leave the field out, or ask a maintainer for the label {ON_BEHALF}"
        )
        yield Finding(file=path, path="$.contributor", message=message, rule="contributor-author")
    if submission.origin is not None and submission.origin.licence is None:
        message = (
            "other people's records may be shared only as their licence allows; import the "
            "records again, with the licence that their source states (--licence)"
        )
        yield Finding(file=path, path="$.origin.licence", message=message, rule="licence-of-source")
    if sent.now is not None:
        yield from in_file(measured_in_future(submission, sent.now), path)
    engine = submission.engine.name
    first = _FIRST_DAYS.get(engine.lower(), _FIRST_PAPER)
    if submission.measured_from[:10] < first:
        message = f"{shown(engine)} did not exist before {first}; correct the date"
        place = "$.measured_from"
        yield Finding(file=path, path=place, message=message, rule="measured-before-engine")


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
