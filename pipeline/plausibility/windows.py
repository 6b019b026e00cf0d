"""Was the same machine measured twice at the same time?"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from estimates.model import Flag

if TYPE_CHECKING:
    from pipeline.plausibility.question import Question
    from schemas.submission import Submission

# Moments are whole seconds; one campaign may start in the second in which another one ends.
_TOUCH = timedelta(seconds=2)


def windows_overlap(question: Question) -> Flag | None:
    """Another campaign of the same contributor on the same machine ran within this one's window.

    Of anonymous submissions nothing is said: two strangers may own the same laptop.
    """
    own = question.submission
    if own.contributor is None:
        return None
    for position in question.corpus.by_owner.get(owner(own), ()):
        other = question.corpus.submissions[position]
        overlap = _overlap(own, other)
        if question.is_apart(position) and overlap > _TOUCH:
            minutes = overlap.total_seconds() / 60
            return Flag(
                name="windows-overlap",
                severity="caution",
                message=(
                    f"For {minutes:.1f} minutes the same machine also measured "
                    f"{question.name_of(position)}."
                ),
                remedy="Campaigns beside each other slow each other down; run them one by one.",
            )
    return None


def owner(submission: Submission) -> tuple[str | None, ...]:
    """A contributor with a machine, as far as a submission tells machines apart."""
    machine = submission.machine
    cards = [f"{gpu.name} {gpu.vram_mib}" for gpu in machine.gpus]
    parts = (machine.os.family, machine.cpu.name, machine.cpu.logical_cores, machine.ram_mib)
    return (submission.contributor, *map(str, parts), *cards)


def _overlap(own: Submission, other: Submission) -> timedelta:
    began = max(_moment(own.measured_from), _moment(other.measured_from))
    ended = min(_moment(own.measured_until), _moment(other.measured_until))
    return ended - began


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
