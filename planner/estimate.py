"""Estimate a speedup for one more person, from what people published for similar settings.

The estimate begins with the median over people for the kind of method and of card (`fitted.json`,
which `make predictions` writes from `results/`). Figures of the same model pull it, most of all
those from the same card: n people there count about n / (n + 1). The interval covers one more
person's figure. Note 0054 has the other designs that were compared.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib import resources

import msgspec

from planner.engine_table import engine_kind
from planner.evidence import ALL_TASKS, PairFigure, Rig
from planner.kinds import Case, drafting_class, kind_of
from planner.placement import LoadPlan, Projection
from planner.question import Question
from planner.rounds import Curve, highest
from planner.speed import SpeedEstimate, plain_tps, step_bytes
from planner.ways import Way

# Standard deviations of logarithms: between models of a kind, between places with one model, and
# between people at one place. Chosen on whole sources left out.
MODELS, PLACES, PEOPLE = 0.1, 0.15, 0.2
# A kind's median counts as n / (n + k) of n people, against the wider kind's, so that one person
# alone decides at most a third.
DRAWN_KIND, DRAWN_CARD = 2.0, 3.0
# Between people's plain speeds with the same card and model: of the same quantisation, and of one
# with as many bits.
_RATES, _RATES_ALIKE = 0.1, 0.13
_Z90 = 1.6449
_SHORT_CONTEXT = 32_768  # tokens; people publish figures of contexts up to about this length
_FEW = 3  # people
RAW = 4  # the people that one counts for who published all trials
_FURTHEST = 0.35  # no figure from elsewhere pulls by more: one person moves no other card by 5 %
ALL = "all"


class Median(msgspec.Struct, frozen=True, array_like=True):
    """The median speedup over people, and the number of voices behind it."""

    speedup: float
    people: float


class Accuracy(msgspec.Struct, frozen=True, kw_only=True):
    """The errors of predictions of a kind, tested on figures that came later.

    `off` is the median factor over people; `held` is the share of figures inside their intervals.
    """

    off: float
    held: float
    figures: int
    people: int


class Typical(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Medians over people by kind of method, and by kind of method and card.

    `every` is the median over all. `reach` has, by kind, the number of standard deviations in a
    90 % interval; `accuracy` has the errors by kind. Both have the entry `all`. `digest` is that of
    the rows behind the medians.
    """

    digest: str
    every: float
    kinds: dict[str, Median]
    cards: dict[str, Median]
    reach: dict[str, float]
    accuracy: dict[str, Accuracy] = {}

    def log_speedup(self, case: Case) -> float:
        """The logarithm of the speedup that is usual for a case's kind of method and card."""
        total = math.log(self.every)
        for table, name, drawn in (
            (self.kinds, case.kind, DRAWN_KIND),
            (self.cards, case.kind_here, DRAWN_CARD),
        ):
            known = table.get(name)
            if known is not None:
                share = known.people / (known.people + drawn)
                total += share * (math.log(known.speedup) - total)
        return total


class Pull(msgspec.Struct, frozen=True, kw_only=True):
    """The pull of figures on an estimate, and the deviation of one more person, as logarithms."""

    shift: float
    deviation: float


class Setup(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A question before a draft is chosen, with its target alone in memory as `found`.

    `plain` is the target's speed by formulas.
    """

    question: Question
    plain: SpeedEstimate
    found: Projection

    @property
    def base(self) -> SpeedEstimate:
        """The speed of the target alone: measured on this machine, else pulled by figures."""
        return self.question.plain or self._pulled(self.plain)

    def _pulled(self, plain: SpeedEstimate) -> SpeedEstimate:
        """The plain speed, pulled towards that of people with the same model at this place.

        Without figures of the same file, those with as many bits count. The formulas' error and the
        difference between people are standard deviations, so n people leave little of the formulas.
        """
        near = [
            (pair, pair.baseline_tps)
            for pair in self.question.pairs
            if pair.task == ALL_TASKS and pair.baseline_tps and self.near(pair)
        ]
        own = self.question.quantisation
        same = [each for each in near if each[0].quantisations == (own,)]
        alike = [each for each in near if {*map(_bits, each[0].quantisations)} == {_bits(own)}]
        rated = [(pair.rated or 1, tps, pair.tier) for pair, tps in same or alike]
        if not rated:
            return plain
        total = sum(people for people, _, _ in rated)
        seen = sum(math.log(tps) * people for people, tps, _ in rated) / total
        variance = (math.log(plain.high / plain.low) / 2 / _Z90) ** 2
        spread = _RATES if same else _RATES_ALIKE
        share = variance / (variance + spread**2 / max(people for people, _, _ in rated))
        middle = math.log(plain.estimate) + share * (seen - math.log(plain.estimate))
        reach = _Z90 * math.sqrt(spread**2 + variance * (1 - share))
        return SpeedEstimate(
            estimate=math.exp(middle),
            low=math.exp(middle - reach),
            high=math.exp(middle + reach),
            basis=rated[0][2],
        )

    def curve_for(self, depth: int) -> Curve | None:
        """The measured curve, if it covers a round of this depth."""
        curve = self.question.curve
        return curve if curve and depth <= curve.deepest else None

    @cached_property
    def of_place(self) -> tuple[PairFigure, ...]:
        """The figures of this place."""
        return tuple(filter(self.near, self.question.figures_here))

    def here(self, method: str) -> tuple[PairFigure, ...]:
        """The figures of this place with a method."""
        return tuple([pair for pair in self.of_place if pair.method == method])

    def near(self, pair: PairFigure) -> bool:
        """Whether a figure is of this card, kind of engine, and placement.

        A long context rules all figures out. The same file on the same card has the same placement
        for everyone with a short context.
        """
        asked = self.question
        if asked.setting.context > _SHORT_CONTEXT or not asked.rig.has(pair):
            return False
        kind = engine_kind(asked.engine)
        engines = {engine_kind(each) for each in pair.engines} or {kind}
        same_file = asked.quantisation is not None and pair.quantisations == (asked.quantisation,)
        placed = same_file or (self.found.fits_whole and not pair.offload)
        return placed and kind in engines

    def tried(self, method: str, *, mixture: bool) -> tuple[int, int, float]:
        """The people who tried a method here with this model, and anywhere; else its kind."""
        here = sum(_people(pair) for pair in self.here(method))
        own = sum(pair.people for pair in self.question.figures if pair.method == method)
        kind = typical().kinds.get(kind_of(method, mixture=mixture))
        return here, own, kind.people if kind and not own else 0.0

    def case(self, load: LoadPlan, way: Way) -> Case:
        """The kind of a way to draft on this machine."""
        return Case(
            rig=self.question.rig,
            mixture=load.target.mixture,
            method=way.method,
            partly=not self.found.fits_whole,
        )

    def pull(self, case: Case) -> Pull:
        """The pull of this model's figures with methods that draft alike."""
        drafting = drafting_class(case.method)
        near: list[tuple[float, float]] = []
        far: list[tuple[float, float]] = []
        for pair in self.question.figures:
            if drafting_class(pair.method) == drafting:
                here = pair.method == case.method and pair in self.of_place
                above = _above_usual(pair, mixture=case.mixture)
                (near if here else far).append((_people(pair), above))
        return pull(near, far)


@cache
def typical() -> Typical:
    """The medians that ship with the program."""
    data = resources.files("planner").joinpath("fitted.json").read_bytes()
    return msgspec.json.decode(data, type=Typical)


@cache
def _above_usual(pair: PairFigure, *, mixture: bool) -> float:
    """The logarithm of a figure's speedup above what is usual for its kind; the same for all."""
    rig = Rig(card=pair.card, cards=pair.cards, on_cpu=pair.on_cpu)
    case = Case(rig=rig, mixture=mixture, method=pair.method, partly=pair.offload)
    return math.log(pair.speedup) - typical().log_speedup(case)


def _bits(quantisation: str | None) -> str | None:
    """The first number in a quantisation's name: the bits of most of its weights."""
    found = re.search(r"\d+", quantisation or "")
    return found and found[0]


def _people(pair: PairFigure) -> int:
    return pair.people * (1 if pair.tier == "published" else RAW)


def pull(near: Sequence[tuple[float, float]], far: Iterable[tuple[float, float]]) -> Pull:
    """The pull of figures, each as its people and its logarithm above what is usual for its kind.

    Normal shrinkage with two levels: models differ, places with one model differ, and so do people
    at one place. `near` figures are of the same place.
    """
    weights = [
        (1 / (PLACES**2 + PEOPLE**2 / n), max(-_FURTHEST, min(_FURTHEST, above)))
        for n, above in far
    ]
    variance = 1 / (MODELS**-2 + sum(weight for weight, _ in weights))
    shift = variance * sum(weight * above for weight, above in weights)
    variance += PLACES**2
    if near:
        people = sum(n for n, _ in near)
        above = sum(n * above for n, above in near) / people
        share = variance / (variance + PEOPLE**2 / people)
        shift, variance = shift + share * (above - shift), variance * (1 - share)
    return Pull(shift=shift, deviation=math.sqrt(PEOPLE**2 + variance))


def estimated(
    setup: Setup, load: LoadPlan, found: Projection, way: Way, depth: int
) -> SpeedEstimate:
    """The estimate, capped by what rounds can yield, with the loss of displaced layers.

    Whether a draft displaces layers depends on the memory that is free, which is only estimated. So
    the loss counts half in the estimate, in full at the lower end and not at the upper end.
    """
    case = setup.case(load, way)
    pulled, known = setup.pull(case), typical()
    limit = math.log(highest(load, way.source, depth, one_memory=not case.partly))
    middle = min(known.log_speedup(case) + pulled.shift, limit)
    reach = known.reach.get(case.kind, known.reach[ALL]) * pulled.deviation
    loss, here = displaced(setup, load, found), setup.here(way.method)
    return SpeedEstimate(
        estimate=math.exp(middle + loss / 2),
        low=math.exp(middle - reach + loss),
        high=math.exp(min(middle + reach, limit)),
        basis=here[0].tier if here else "predicted",
    )


def displaced(setup: Setup, load: LoadPlan, found: Projection) -> float:
    """The logarithm of the target's speed beside the draft over its speed alone; 0 or less."""
    if found.placement == setup.found.placement:
        return 0.0
    beside, alone = (
        plain_tps(
            step_bytes(load.target, each.placement, load.setting), setup.question.computer.speed
        )
        for each in (found, setup.found)
    )
    return min(0.0, math.log(beside / alone))


def usual_depth(figures: Iterable[PairFigure], method: str) -> int | None:
    """The depth that most people used with a method for a model; `None` if fewer than three did."""
    people: dict[int, int] = {}
    for pair in figures:
        if pair.method == method and pair.depth is not None:
            people[pair.depth] = people.get(pair.depth, 0) + pair.people
    if sum(people.values()) < _FEW:
        return None
    return max(people, key=lambda depth: (people[depth], -depth))
