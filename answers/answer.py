"""Answer one question: whether to switch speculation on, what it gains, and why.

The numbers are expected for one more person. Figures of the map for this card and model pull them,
unless a part of the model is off the card or the question fixes the placement; every figure is
quoted as the map prints it.
"""

import msgspec
from msgspec.structs import replace

from answers.advice import Verdict, helps, most_promising, verdict_of
from answers.choices import (
    Placements,
    PlannedModel,
    PlanOption,
    Way,
    option,
    without_speculation,
)
from answers.curves import Curve
from answers.engine_commands import ServeLine
from answers.estimate import Setup, plain_here
from answers.evidence import ALL_TASKS, PairFigure, of_task
from answers.kin import pairs_here, rig_of, speed_of
from answers.kinds import engine_kind
from answers.machines import Computer
from answers.model import LayerPlacement, Setting
from answers.placement import LoadPlan, fit, project
from answers.speed import SpeedEstimate
from schemas.rig import LLAMA_CPP

_SHORT_CONTEXT = 32_768  # tokens; people publish figures of contexts up to about this length


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question: a model on a machine, and the task if one was named.

    `model` is the model's key in the evidence; `pairs` are about the model on any machine. `ways`
    are the ways to draft for it, and `named` is the way that was requested, if any; `alone` means
    that no draft is wanted. `layers` and `cpu_experts` are the requested placement. `curve` has the
    model's step times on this machine, measured for steps over 1, 2, … tokens, and `plain` its
    plain speed measured there. `engine` is a key
    of `answers.served_engines.ENGINES`.
    """

    name: str
    model: str
    target: PlannedModel
    computer: Computer
    setting: Setting
    pairs: tuple[PairFigure, ...]
    ways: tuple[Way, ...] = ()
    named: Way | None = None
    alone: bool = False
    task: str | None = None
    engine: str = LLAMA_CPP
    quantisation: str | None = None
    layers: int | None = None
    cpu_experts: int | None = None
    notes: tuple[str, ...] = ()  # further assumptions, besides those about model and machine
    curve: Curve | None = None
    plain: SpeedEstimate | None = None

    @property
    def load(self) -> LoadPlan:
        """The plan to load the target on the machine without a draft."""
        return self.computer.load(self.target.facts, self.setting)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
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
    context_max_alone: int | None
    alternatives: tuple[PlanOption, ...] = ()
    exact: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def speedup(self) -> SpeedEstimate | None:
        return self.asked.gain

    @property
    def best(self) -> PlanOption:
        """The option that the printed commands load: `asked` if it fits and the verdict favours it.

        Otherwise it is the target alone.
        """
        asked = self.asked
        favoured = asked.fits and (asked.gain is None or helps(asked, self.verdict))
        return asked if favoured else self.alone

    @property
    def command(self) -> ServeLine | None:
        """The best option's server line; `None` if it does not fit."""
        return self.best.command if self.best.fits else None


def answer(question: Question, *, placed: Placements | None = None) -> Answer:
    """Answer a question from the evidence and the formulas, without alternatives and warnings.

    Callers can pass cached placements (`placed`), which are the same for all machines with equal
    memory.
    """
    speed, fixed = speed_of(question.computer), _fixed(question)
    placed = placed or Placements(question.load, fixed)
    alone = without_speculation(question.load, question.target, speed, placed.alone)
    setup = setup_for(question, alone)
    alone = replace(alone, tps=setup.base)
    options = tuple(option(way, alone, setup, placed) for way in question.ways)
    named = (each for each in options if question.named and each.way is question.named)
    judged = next(named, None) if question.named else most_promising(options)
    verdict, chance = verdict_of(judged) if judged else ("No", None)
    asked = judged if judged and (question.named or helps(judged, verdict)) else alone
    if fixed and asked is alone:
        asked = without_speculation(alone.case, question.target, speed, project(alone.case, fixed))
    return Answer(
        question=question,
        verdict=verdict,
        chance=chance,
        asked=asked,
        judged=judged,
        alone=alone,
        options=options,
        figures=figures_of(question),
        context_max=_longest_context(placed, asked),
        context_max_alone=_longest_context(placed, alone),
    )


def setup_for(question: Question, alone: PlanOption) -> Setup:
    """The starting point of all predictions: the target without a draft, in its placement."""
    whole = [pair for pair in question.pairs if pair.quantisation is None]
    figures = {
        (pair.device, pair.target, pair.method): pair
        for task in (ALL_TASKS, question.task)
        for pair in whole
        if pair.task == task
    }
    setup = Setup(
        rig=rig_of(question.computer),
        machine=speed_of(question.computer),
        base=alone.tps,
        placement=alone.found.placement,
        whole=alone.found.fits_whole,
        engine=engine_kind(question.engine),
        counts=_fixed(question) is None and question.setting.context <= _SHORT_CONTEXT,
        quantisation=question.quantisation,
        figures=tuple(figures.values()),
        curve=question.curve,
    )
    return replace(setup, base=question.plain or plain_here(setup, _same_files(question)))


def _same_files(question: Question) -> tuple[PairFigure, ...]:
    """The figures whose people all had the question's quantisation."""
    return tuple(
        pair
        for pair in question.pairs
        if pair.task == ALL_TASKS and pair.quantisations == (question.quantisation,)
    )


def notes_of(found: Answer) -> tuple[str, ...]:
    """The assumptions behind the answer: about the machine, the model and the draft."""
    question, draft = found.question, found.asked.draft
    rates = (note for _, note in question.computer.rate_notes())
    notes = (*question.target.notes, *question.computer.notes, *rates, *question.notes)
    return tuple(dict.fromkeys((*notes, *(draft.notes if draft else ()))))


def figures_of(question: Question) -> tuple[PairFigure, ...]:
    """The map's figures for this model and its variants on this machine, for each method."""
    here = pairs_here(question.pairs, rig_of(question.computer))
    return of_task(here, question.task, question.name)


def _longest_context(placed: Placements, choice: PlanOption) -> int | None:
    depth = choice.speculation.depth if choice.speculation else 0
    return placed.longest_context(choice.way, depth, choice.found.placement)


def _fixed(question: Question) -> LayerPlacement | None:
    """The requested placement; `None` if the question names none."""
    if question.layers is None and question.cpu_experts is None:
        return None
    load = question.load
    best, whole = fit(load).placement, load.target.placed_layers
    layers = best.layers if question.layers is None else question.layers
    layers = whole if layers < 0 else min(layers, whole)
    experts = best.cpu_experts if question.cpu_experts is None else question.cpu_experts
    layers = layers if load.devices else 0
    return LayerPlacement(layers=layers, cpu_experts=experts, share=best.share)
