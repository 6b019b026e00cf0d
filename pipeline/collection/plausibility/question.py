"""What is asked about one submission, and against what? And how is another submission named?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.collection.plausibility.corpus import Corpus
    from pipeline.collection.plausibility.peers import Pace
    from pipeline.collection.plausibility.traces import Trace
    from schemas.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A submission before a corpus; `itself` is its own position there, if it has one.

    `alike` are the positions of those whose noise may be the same.
    """

    submission: Submission
    trace: Trace
    pace: Pace | None
    corpus: Corpus
    alike: tuple[int, ...]
    itself: int | None

    def is_apart(self, position: int) -> bool:
        """Whether it is neither this submission nor one that this one corrects, or the reverse."""
        if position == self.itself:
            return False
        lines = self.corpus.lines
        if position in lines.replaced_by(self.submission):
            return False
        return self.itself not in lines.replaced_by(self.corpus.submissions[position])

    def name_of(self, position: int) -> str:
        """How a message names another submission: where and when it was measured, and by whom."""
        other = self.corpus.submissions[position]
        return (
            f"{other.target.name} {other.target.quantisation} on {device_name(other)} "
            f"({other.contributor or 'anonymous'}, {other.measured_from[:10]})"
        )


def device_name(submission: Submission) -> str:
    """The first GPU on a GPU backend, else the processor: what `setup` calls the device."""
    machine = submission.machine
    on_gpu = submission.engine.backend != "cpu" and machine.gpus
    return machine.gpus[0].name if on_gpu else machine.cpu.name or "unknown processor"
