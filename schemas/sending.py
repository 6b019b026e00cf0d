"""Check what only a sent result must obey: its sender, names, private texts, licence and date.

The program that sends a result asks this before a branch is pushed, and the gate asks it again.
"""

from collections.abc import Iterator
from datetime import datetime

from schemas.finding import Finding, shown
from schemas.private import odd_names, personal, texts
from schemas.rules.contradictions import measured_in_future
from schemas.submission import Submission

ON_BEHALF = "on-behalf"  # the label that permits sending for another contributor
PRIVATE = "public"  # the label that permits text that looks private
LETTERS = "letters"  # the label that permits names with other letters than ASCII
# The dates of the first commit of llama.cpp and of the first release of vLLM. Nobody measured
# speculative decoding of language models before the first paper on it (arXiv 2211.17192).
_FIRST_DAYS = {"llama.cpp": "2023-03-10", "vllm": "2023-06-20"}
_FIRST_PAPER = "2022-11-30"


def findings_on_sending(
    submission: Submission,
    contributor: str | None,
    now: datetime | None,
    labels: frozenset[str] = frozenset(),
) -> Iterator[Finding]:
    """Findings on a valid submission sent at `now` by the account `contributor`.

    `labels` are those that a maintainer set. `None` means unknown: the check is skipped.
    """
    own = submission.contributor
    if own is not None and contributor is not None and own.lower() != contributor.lower():
        message = (
            f"the result names {own}, but the pull request is by {contributor}; write your GitHub "
            f"user name, leave the field out, or ask a maintainer for the label {ON_BEHALF}"
        )
        yield Finding(path="$.contributor", message=message, rule="contributor-author")
    if LETTERS not in labels:
        yield from _odd_letters(submission)
    if PRIVATE not in labels:
        yield from _private_data(submission)
    if submission.origin is not None and submission.origin.licence is None:
        message = (
            "other people's records may be shared only as their licence allows; import the "
            "records again, with the licence that their source states (--licence)"
        )
        yield Finding(path="$.origin.licence", message=message, rule="licence-of-source")
    if now is not None:
        yield from measured_in_future(submission, now)
    engine = submission.engine.name
    first = _FIRST_DAYS.get(engine.lower(), _FIRST_PAPER)
    if submission.measured_from[:10] < first:
        message = f"{shown(engine)} did not exist before {first}; correct the date"
        yield Finding(path="$.measured_from", message=message, rule="measured-before-engine")


def _odd_letters(submission: Submission) -> Iterator[Finding]:
    """Findings on names whose letters may look like ASCII; no list of look-alikes is complete."""
    for place, text in odd_names(submission):
        message = (
            f"{shown(text)} has other letters than A to Z; write the name in Latin letters, or ask "
            f"a maintainer for the label {LETTERS}"
        )
        yield Finding(path=place, message=message, rule="name-letters")


def _private_data(submission: Submission) -> Iterator[Finding]:
    """Findings on texts that look private: a published file stays in the history forever."""
    for place, text in texts(submission):
        if (kind := personal(text, place)) is not None:
            message = (
                f"contains what looks like {kind}; remove it, or ask a maintainer for the label "
                f"{PRIVATE} if it is not private"
            )
            yield Finding(path=place, message=message, rule="private-data")
