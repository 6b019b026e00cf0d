"""Estimate a speedup for one more person, from what people published for similar settings.

The estimate begins with the median over people for the kind of method and of card (`fitted.json`,
which `make predictions` writes from `results/`). Figures of the same model pull it, most of all
those from the same card: n people there count about n / (n + 1). The interval covers one more
person's figure. Note 0054 has the other designs that were compared.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib import resources

import msgspec
from msgspec.structs import replace

from answers.curves import Curve
from answers.evidence import PairFigure
from answers.kin import Rig
from answers.kinds import Case, drafting_class, engine_kind, machine_kind
from answers.model import LayerPlacement
from answers.placement import LoadPlan, Projection
from answers.rounds import Speculation, highest, speedup
from answers.speed import MachineSpeed, SpeedEstimate, plain_tps, step_bytes

# Standard deviations of logarithms: between models of a kind, between places with one model, and
# between people at one place. Chosen on whole sources left out.
MODELS, PLACES, PEOPLE = 0.1, 0.15, 0.2
# A kind's median counts as n / (n + k) of n people, against the wider kind's.
DRAWN_KIND, DRAWN_CARD = 1.0, 3.0
_RATES = 0.1  # between people's plain speeds with the same card, model and quantisation
_Z90 = 1.6449
_FEW = 3  # people
RAW = 4  # the people that one counts for who published all trials
_FURTHEST = 0.7  # no figure from elsewhere pulls by more than this logarithm
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

    def people(self, case: Case) -> float:
        """The number of people who tried a kind of method."""
        known = self.kinds.get(case.kind)
        return known.people if known else 0.0


class Pull(msgspec.Struct, frozen=True, kw_only=True):
    """The pull of figures on an estimate: its shift and variance, as logarithms."""

    shift: float
    variance: float


class Setup(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The question before a draft is chosen.

    `base` is the speed of the target alone in `placement`, which speedups refer to; `whole` means
    that all layers are on the devices. `figures` are those of the model on all machines, one for
    each method. They count in full for this machine only with `counts`, which a requested placement
    or a long context rules out. `curve` has step times measured on this machine.
    """

    rig: Rig
    machine: MachineSpeed
    base: SpeedEstimate
    placement: LayerPlacement
    whole: bool
    engine: str
    counts: bool = True
    quantisation: str | None = None
    figures: tuple[PairFigure, ...] = ()
    curve: Curve | None = None

    def curve_for(self, depth: int) -> Curve | None:
        """The curve, if it covers a round of this depth."""
        return self.curve if self.curve and depth <= self.curve.deepest else None

    @cached_property
    def of_place(self) -> tuple[PairFigure, ...]:
        """The figures of this place."""
        return tuple(filter(self.near, self.figures))

    def here(self, method: str) -> tuple[PairFigure, ...]:
        """The figures of this place with a method."""
        return tuple([pair for pair in self.of_place if pair.method == method])

    def near(self, pair: PairFigure) -> bool:
        """Whether a figure is of this card, kind of engine, and placement.

        The same file on the same card has the same placement for everyone with a short context.
        """
        engines = {engine_kind(each) for each in pair.engines} or {self.engine}
        same_file = self.quantisation is not None and pair.quantisations == (self.quantisation,)
        placed = same_file or (self.whole and not pair.offload)
        return self.counts and placed and self.engine in engines and self.rig.has(pair)

    def tried(self, method: str, *, mixture: bool) -> tuple[int, int, float]:
        """The people who tried a method here with this model, and anywhere; else its kind."""
        here = sum(_people(pair) for pair in self.here(method))
        own = sum(pair.people for pair in self.figures if pair.method == method)
        kind = Case(rig=self.rig, mixture=mixture, method=method)
        return here, own, 0.0 if own else typical().people(kind)

    def pull(self, case: Case) -> Pull:
        """The pull of this model's figures with methods that draft alike."""
        near: list[tuple[float, float]] = []
        far: list[tuple[float, float]] = []
        for pair in self.figures:
            if drafting_class(pair.method) == drafting_class(case.method):
                rig = Rig(card=pair.card, cards=pair.cards, on_cpu=pair.on_cpu)
                there = replace(case, rig=rig, method=pair.method, partly=pair.offload)
                above = math.log(pair.speedup) - typical().log_speedup(there)
                here = pair.method == case.method and pair in self.of_place
                (near if here else far).append((_people(pair), above))
        return pull(near, far)


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A predicted speedup with its 90 % interval.

    An estimate from figures has the `accuracy` of its kind, or `None` if too few people tried the
    kind; a prediction by a measured curve has the `curve`.
    """

    gain: SpeedEstimate
    accuracy: Accuracy | None = None
    curve: Curve | None = None


@cache
def typical() -> Typical:
    """The medians that ship with the program."""
    data = resources.files("answers").joinpath("fitted.json").read_bytes()
    return msgspec.json.decode(data, type=Typical)


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
    return Pull(shift=shift, variance=variance)


def deviation(found: Pull) -> float:
    """The standard deviation of one more person's figure."""
    return math.sqrt(PEOPLE**2 + found.variance)


def predicted(
    setup: Setup, load: LoadPlan, found: Projection, speculation: Speculation
) -> Prediction:
    """The predicted gain of speculation over the target alone in the same memory.

    If the acceptance or the cost of wider steps was measured, formulas replace the estimate. A
    curve is not used for text methods, whose rounds are mostly plain steps.
    """
    curve = None if speculation.source == "text" else setup.curve_for(speculation.depth)
    if speculation.acceptance is None and curve is None:
        return _estimated(setup, load, found, speculation)
    gain = speedup(load, speculation, machine_kind(setup.rig), curve)
    loss = math.exp(_displaced(setup, load, found))
    gain = replace(gain, estimate=gain.estimate * loss, low=gain.low * loss, high=gain.high * loss)
    return Prediction(gain=gain, curve=curve)


def _estimated(
    setup: Setup, load: LoadPlan, found: Projection, speculation: Speculation
) -> Prediction:
    """The estimate, capped by what rounds can yield, with the loss of displaced layers.

    Whether a draft displaces layers depends on the memory that is free, which is only estimated. So
    the loss counts half in the estimate, in full at the lower end and not at the upper end.
    """
    case = Case(
        rig=setup.rig,
        mixture=load.target.mixture,
        method=speculation.method,
        engine=setup.engine,
        partly=not setup.whole,
    )
    pulled = setup.pull(case)
    known = typical()
    limit = math.log(highest(load, speculation, one_memory=setup.whole))
    middle = min(known.log_speedup(case) + pulled.shift, limit)
    reach = known.reach.get(case.kind, known.reach[ALL]) * deviation(pulled)
    loss = _displaced(setup, load, found)
    here = setup.here(speculation.method)
    gain = SpeedEstimate(
        estimate=math.exp(middle + loss / 2),
        low=math.exp(middle - reach + loss),
        high=math.exp(min(middle + reach, limit)),
        basis=here[0].tier if here else "predicted",
    )
    return Prediction(gain=gain, accuracy=known.accuracy.get(case.kind))


def _displaced(setup: Setup, load: LoadPlan, found: Projection) -> float:
    """The logarithm of the target's speed beside the draft over its speed alone; 0 or less."""
    if found.placement == setup.placement:
        return 0.0
    both = (
        plain_tps(step_bytes(load.target, placement, load.setting), setup.machine)
        for placement in (found.placement, setup.placement)
    )
    beside, alone = both
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


def plain_here(setup: Setup, figures: Iterable[PairFigure]) -> SpeedEstimate:
    """The plain speed, pulled from the formulas towards that of people at this place.

    `figures` are those with the quantisation of the question. The formulas' error and the
    difference between people are standard deviations, so n people leave little of the formulas.
    """
    base, rated = setup.base, [(pair, pair.rated or 1) for pair in figures if setup.near(pair)]
    rated = [(pair, people) for pair, people in rated if pair.baseline_tps]
    if not rated:
        return base
    total = sum(people for _, people in rated)
    seen = sum(math.log(pair.baseline_tps or 1) * people for pair, people in rated) / total
    variance = (math.log(base.high / base.low) / 2 / _Z90) ** 2
    share = variance / (variance + _RATES**2 / max(people for _, people in rated))
    middle = math.log(base.estimate) + share * (seen - math.log(base.estimate))
    reach = _Z90 * math.sqrt(_RATES**2 + variance * (1 - share))
    return SpeedEstimate(
        estimate=math.exp(middle),
        low=math.exp(middle - reach),
        high=math.exp(middle + reach),
        basis=rated[0][0].tier,
        assumes=base.assumes,
    )
