"""Answer one question: whether to switch speculation on, what it gains, and why.

The numbers are expected for one more person. Figures of the map for this card and model pull them,
unless a part of the model is off the card or the question fixes the placement; every figure is
quoted as the map prints it.
"""

import msgspec
from msgspec.structs import replace

from answers.advice import Verdict, helps, most_promising, verdict_of
from answers.choices import Placements, PlanOption, option, without_draft
from answers.engine_commands import ServeLine
from answers.engine_table import ENGINES
from answers.estimate import Setup, plain_here
from answers.evidence import ALL_TASKS, PairFigure, of_task, rig_of
from answers.machines import Computer
from answers.model import LayerPlacement, Setting
from answers.placement import LoadPlan, fit, project
from answers.rates import speed_of
from answers.rounds import Curve
from answers.sentences import sentence
from answers.speed import SpeedEstimate
from answers.ways import PlannedModel, Way
from schemas.rig import LLAMA_CPP

_SHORT_CONTEXT = 32_768  # tokens; people publish figures of contexts up to about this length
_MS_PER_S = 1000.0
_CURVE_REACH = 1.1  # a step timed without context and sampling is slightly faster than a real one


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question: a model on a machine, and the task if one was named.

    `model` is the model's key in the evidence; `pairs` are about the model on any machine. `ways`
    are the ways to draft for it, and `named` is the way that was requested, if any; `alone` means
    that no draft is wanted. `layers` and `cpu_experts` are the requested placement. `curve` has the
    model's step times on this machine, measured for steps over 1, 2, … tokens. `engine` is a key
    of `answers.engine_table.ENGINES`.
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
    warnings: tuple[str, ...] = ()

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
    alone = without_draft(question.load, question.target, speed, placed.alone)
    figures = of_task(question.pairs, question.task, question.name)
    setup = _setup(question, alone, fixed, figures)
    alone = replace(alone, tps=setup.base)
    options = tuple(option(way, alone, setup, placed) for way in question.ways)
    named = (each for each in options if question.named and each.way is question.named)
    judged = next(named, None) if question.named else most_promising(options)
    verdict, chance = verdict_of(judged) if judged else ("No", None)
    asked = judged if judged and (question.named or helps(judged, verdict)) else alone
    if fixed and asked is alone:
        asked = without_draft(alone.case, question.target, speed, project(alone.case, fixed))
    return Answer(
        question=question,
        verdict=verdict,
        chance=chance,
        asked=asked,
        judged=judged,
        alone=alone,
        options=options,
        figures=tuple(filter(setup.rig.has, figures)),
        context_max=placed.longest_context(asked),
        context_max_alone=placed.longest_context(alone),
    )


def _setup(
    question: Question,
    alone: PlanOption,
    fixed: LayerPlacement | None,
    figures: tuple[PairFigure, ...],
) -> Setup:
    """The starting point of all predictions: the target without a draft, in its placement."""
    same_files = (
        pair
        for pair in question.pairs
        if pair.task == ALL_TASKS and pair.quantisations == (question.quantisation,)
    )
    setup = Setup(
        rig=rig_of(question.computer),
        machine=speed_of(question.computer),
        base=alone.tps,
        placement=alone.found.placement,
        whole=alone.found.fits_whole,
        engine=question.engine,
        counts=fixed is None and question.setting.context <= _SHORT_CONTEXT,
        quantisation=question.quantisation,
        figures=figures,
        curve=question.curve,
    )
    base = plain_here(setup, same_files)
    if question.curve is not None and setup.whole:  # a step was timed on this machine
        tps = _MS_PER_S / question.curve.step_ms
        low, high = tps / _CURVE_REACH, tps * _CURVE_REACH
        base = SpeedEstimate(estimate=tps, low=low, high=high, basis="curve")
    return replace(setup, base=base)


def notes_of(found: Answer) -> tuple[str, ...]:
    """The assumptions behind the answer: about the machine, the model and the draft."""
    question, draft = found.question, found.asked.draft
    computer, cards = question.computer, len(question.computer.devices)
    notes = [*question.target.notes, *computer.notes]
    if cards > 1:
        split = "tensor" if ENGINES[question.target.engine].split else "layer"
        notes.append(sentence(f"{split}-split", cards=cards))
    reads_host = "host" in (*found.alone.tps.assumes, *found.asked.tps.assumes)
    rates = (note for memory, note in computer.rate_notes() if memory != "host" or reads_host)
    return tuple(dict.fromkeys((*notes, *rates, *question.notes, *(draft.notes if draft else ()))))


def figures_of(question: Question) -> tuple[PairFigure, ...]:
    """The map's figures for this model and its variants on this machine, for each method."""
    rig = rig_of(question.computer)
    return of_task(filter(rig.has, question.pairs), question.task, question.name)


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
