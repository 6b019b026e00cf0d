"""Predict a speedup: the formulas' value, corrected by measurements of similar settings.

`fitted.json` holds the corrections, and the errors of predictions for people whose results were
held out of the fit. `make predictions` writes it from `results/`.
"""

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources

import msgspec
from msgspec.structs import replace

from answers.curves import Curve
from answers.effects import Case, own_effects, shared_effects, sized_effects
from answers.kin import Rig
from answers.placement import LoadPlan, Projection
from answers.rounds import (
    Speculation,
    assumed_chances,
    limits_of,
    parts_of,
    speedup,
    speedup_at,
)
from answers.speed import MachineSpeed, SpeedEstimate, assumed_rates, plain, plain_tps


class Coverage(msgspec.Struct, frozen=True, array_like=True):
    """The reliability of one kind of prediction, tested on people left out of the fit.

    `widths` is the number of standard deviations that contain 90 % of figures. `held` is the share
    of figures inside the resulting intervals, with each person counted once. `figures` and `people`
    are the numbers behind it.
    """

    widths: float
    held: float
    figures: int
    people: int


class Fitted(msgspec.Struct, frozen=True, eq=False):  # hashed by identity, as a key of caches
    """The fit: each effect's coefficient with its standard deviation, in logarithms.

    `digest` is the digest of the rows that were fitted. `spreads` are the standard deviations to
    assume for untried effects, by name. `noise` is the standard deviation of one more person's
    figure for a known setting. `kinds` has the coverage of each kind of prediction, and of all
    kinds under `all`.
    """

    digest: str
    noise: float
    spreads: dict[str, float]
    effects: dict[str, tuple[float, float]]
    kinds: dict[str, Coverage]

    def log_speedup(self, case: Case) -> tuple[float, float]:
        """The logarithm of a speedup, and the standard deviation of one more person's figure."""
        total, variance = _shared_sum(self, shared_effects(case))
        own = dict.fromkeys(own_effects(case), 1.0) | sized_effects(case)
        total, variance = _added(self, own, total, variance)
        return total, math.sqrt(variance)

    def coverage(self, kind: str) -> Coverage:
        """The coverage for a kind of prediction, or for all kinds if too few people tried it."""
        return self.kinds.get(kind) or self.kinds["all"]


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The question before a draft is chosen: the machine, the model, and the task if one was named.

    `plain_tps` follows from the formulas and the `nominal` bandwidths, as in the fit; `machine`
    also has the bandwidths reached in results. `base` is the speed of the target alone, which
    speedups refer to. `curve` has the step times measured on this machine, if there are any.
    """

    rig: Rig
    unified: bool
    model: str
    task: str | None
    machine: MachineSpeed
    nominal: MachineSpeed
    plain_tps: SpeedEstimate
    partly: bool
    base: SpeedEstimate
    curve: Curve | None = None

    def curve_for(self, depth: int) -> Curve | None:
        """The curve, if it covers a round of this depth."""
        return self.curve if self.curve and depth <= self.curve.deepest else None


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A predicted speedup with its 90 % interval.

    A prediction by the fit has the `coverage` of its intervals; a prediction by a measured curve
    has the `curve`.
    """

    gain: SpeedEstimate
    coverage: Coverage | None = None
    curve: Curve | None = None


@cache
def fitted() -> Fitted:
    """The fit that ships with the program."""
    data = resources.files("answers").joinpath("fitted.json").read_bytes()
    return msgspec.json.decode(data, type=Fitted)


def _added(
    fit: Fitted, effects: Mapping[str, float], total: float, variance: float
) -> tuple[float, float]:
    """Add effects to a sum of coefficients, and to the variance of the sum."""
    for name, value in effects.items():
        known = fit.effects.get(name)
        if known is None:
            variance += (fit.spreads.get(name.partition("|")[0], 0.0) * value) ** 2
        else:
            total += known[0] * value
            variance += (known[1] * value) ** 2
    return total, variance


@lru_cache(maxsize=4096)
def _shared_sum(fit: Fitted, names: tuple[str, ...]) -> tuple[float, float]:
    """The sum of effects that many models and machines share, and its variance."""
    return _added(fit, dict.fromkeys(names, 1.0), 0.0, fit.noise**2)


def setup_of(
    rig: Rig,
    machine: MachineSpeed,
    alone: LoadPlan,
    found: Projection,
    model: str,
    task: str | None,
) -> Setup:
    """The setup for predictions: the target alone on a machine, in this placement."""
    nominal = replace(machine, device_reached_gb_per_s=None, host_reached_gb_per_s=None)
    base = plain(alone, found, nominal)
    return Setup(
        rig=rig,
        unified=alone.unified,
        model=model,
        task=task,
        machine=machine,
        nominal=nominal,
        plain_tps=base,
        base=base,
        partly=not found.fits_whole,
    )


def case_of(setup: Setup, load: LoadPlan, found: Projection, speculation: Speculation) -> Case:
    """Describe a method at a depth in this setup for the fit, with the values of the formulas."""
    parts = parts_of(load, found.placement, setup.nominal, speculation.source)
    beside_tps = plain_tps(parts.step, setup.nominal)
    _, accepted, _ = assumed_chances(speculation.source, speculation.depth)
    usual_limit, limit = limits_of(load, speculation, one_memory=not setup.partly)
    return Case(
        rig=setup.rig,
        unified=setup.unified,
        model=setup.model,
        mixture=load.target.mixture,
        method=speculation.method,
        depth=speculation.depth,
        plain_tps=setup.plain_tps.estimate,
        physics=math.log(speedup_at(parts, beside_tps, setup.nominal, speculation, accepted)),
        displaced=math.log(beside_tps / setup.plain_tps.estimate),
        usual_limit=math.log(usual_limit),
        limit=math.log(limit),
        partly=setup.partly,
        task=setup.task or "all",
    )


def predicted(
    setup: Setup, load: LoadPlan, found: Projection, speculation: Speculation
) -> Prediction:
    """The predicted gain of speculation over the target alone in the same memory.

    If the acceptance or the cost of wider steps was measured, the formulas replace the fit. A curve
    is not used for text methods, whose rounds are mostly plain steps.
    """
    curve = None if speculation.source == "text" else setup.curve_for(speculation.depth)
    if speculation.acceptance is None and curve is None:
        return predict(case_of(setup, load, found, speculation), fitted())
    parts = parts_of(load, found.placement, setup.machine, speculation.source, curve)
    assumes = dict.fromkeys((*setup.base.assumes, *assumed_rates(parts.step, setup.machine)))
    gain = speedup(parts, setup.base, setup.machine, speculation, tuple(assumes))
    return Prediction(gain=gain, curve=curve)


def predict(case: Case, fit: Fitted) -> Prediction:
    """Predict a case's speedup with a fit, capped by what its rounds can yield at best."""
    above, deviation = fit.log_speedup(case)
    middle = case.total(above)
    coverage = fit.coverage(case.kind)
    reach = coverage.widths * deviation
    gain = SpeedEstimate(
        estimate=math.exp(middle),
        low=math.exp(middle - reach),
        high=math.exp(min(middle + reach, case.highest)),
        basis="predicted",
    )
    return Prediction(gain=gain, coverage=coverage)
