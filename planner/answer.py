"""Answer one question: whether to switch speculation on, what it gains, and why.

The numbers are expected for one more person. Figures of the map for this card and model pull them,
unless a part of the model is off the card; every figure is quoted as the map prints it.
"""

from collections.abc import Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from planner.advice import Verdict, helps, most_promising, verdict_of
from planner.choices import Placements, PlanOption, option, without_draft
from planner.engine_commands import ServeLine
from planner.engine_table import ENGINES
from planner.estimate import Setup
from planner.evidence import PairFigure
from planner.question import Question
from planner.sentences import sentence


class Answer(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """An answer: the verdict, the recommended option, and all options that were considered.

    `alone` runs the target without speculation in the same memory. `asked` is the recommended
    option, or the one that the question named. The verdict is about `judged`, the named way
    or, if none is named, the most promising way. `options` has one option for every way to draft;
    `figures` are the map's figures for this machine and model, one for each method.
    """

    question: Question
    verdict: Verdict
    chance: float | None
    asked: PlanOption
    judged: PlanOption | None
    alone: PlanOption
    options: tuple[PlanOption, ...]
    figures: tuple[PairFigure, ...]
    context_max: int | None

    @cached_property
    def alternatives(self) -> Sequence[PlanOption]:
        """The other options: those that fit first, then those with the highest speed."""
        others = [each for each in (self.alone, *self.options) if each is not self.asked]
        return sorted(others, key=lambda each: (not each.fits, -each.tps.estimate))

    @cached_property
    def best(self) -> PlanOption:
        """The option that the printed commands load: `asked` if it fits and the verdict favours it.

        Otherwise it is the target alone.
        """
        asked = self.asked
        favoured = asked.fits and (asked.gain is None or helps(asked, self.verdict))
        return asked if favoured else self.alone

    @property
    def setup(self) -> Setup:
        """The question before a draft is chosen."""
        return Setup(question=self.question, plain=self.alone.tps, found=self.alone.found)

    @property
    def command(self) -> ServeLine | None:
        """The best option's server line; `None` if it does not fit."""
        return self.best.command if self.best.fits else None


def answer(question: Question, *, placed: Placements | None = None) -> Answer:
    """Answer a question from the evidence and the formulas.

    Callers can pass cached placements (`placed`), which are the same for all machines with equal
    memory.
    """
    placed = placed or Placements(question.load)
    speed = question.computer.speed
    alone = without_draft(question.load, question.target, speed, placed.alone)
    setup = Setup(question=question, plain=alone.tps, found=alone.found)
    alone = replace(alone, tps=setup.base)
    options = tuple(option(way, alone, setup, placed) for way in question.ways)
    named = (each for each in options if question.named and each.way is question.named)
    judged = next(named, None) if question.named else most_promising(options)
    verdict, chance = verdict_of(judged) if judged else ("No", None)
    asked = judged if judged and (question.named or helps(judged, verdict)) else alone
    return Answer(
        question=question,
        verdict=verdict,
        chance=chance,
        asked=asked,
        judged=judged,
        alone=alone,
        options=options,
        figures=question.figures_here,
        context_max=placed.longest_context(asked),
    )


def notes_of(found: Answer) -> tuple[str, ...]:
    """The assumptions behind the answer: about the machine, the model and the draft."""
    question, draft = found.question, found.asked.draft
    computer, cards = question.computer, len(question.computer.devices)
    notes = [*question.target.notes, *computer.notes]
    if cards > 1:
        split = "tensor" if ENGINES[question.target.engine].split else "layer"
        notes.append(sentence(f"{split}-split", cards=cards))
    on_devices = found.alone.found.whole and found.asked.found.whole and not computer.unified
    rates = computer.rate_notes(reads_host=not (computer.devices and on_devices))
    return tuple(dict.fromkeys((*notes, *rates, *question.notes, *(draft.notes if draft else ()))))
