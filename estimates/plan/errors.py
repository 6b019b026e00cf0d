"""How far the planner is from what was measured: plain speeds, each left out in turn, and memory.

A plain speed times the bytes that a token reads is the rate that a device's memory reached. Another
model on the same device is read at about that rate; `leave_one_out` says how nearly. How far memory
is from public logs was computed by `python -m bench.plan`, which writes `planner_errors.json`.
"""

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from estimates.plan.model import Facts, LayerPlacement
from estimates.plan.speculation import Rounds, YieldCurve
from estimates.plan.speed import EFFICIENCY, NEAREST_ERROR, bytes_per_step, starts_ms

_ALIKE = 0.2  # models whose sizes differ by less are equally near
RUNTIME_MIB = 140  # what CUDA itself takes of a card
_GB, _MS = 1e9, 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The bandwidth that a device, or a processor, reached with a model that lay there whole."""

    device: str
    on_cpu: bool
    model: str
    tps: float
    gb_per_token: float
    gb_per_s: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedError:
    """Of `points` predicted speeds the share within the stated factor, and the median factor."""

    points: int
    devices: int
    within: float
    median: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedMemoryError:
    """Errors over public logs: of caches and states as a share, of all of a device in MiB."""

    points: int
    cache_worst: float
    totals: int
    total_median_mib: float
    total_worst_mib: float
    layers_worst: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsError:
    """How far plans are from the memory that the targets of results held, in MiB."""

    points: int
    median_mib: float
    worst_mib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The planner's own errors; `speed` with a result of the same device, `bare` without any."""

    speed: SpeedError | None
    bare: SpeedError | None
    memory: LoggedMemoryError
    results: ResultsError | None


def rate_of(facts: Facts, tps: float, *, on_cpu: bool, device: str, source: str) -> Rate | None:
    """The rate behind a plain speed; `None` for a speed that no memory could explain."""
    left_ms = _MS / tps - (0.0 if on_cpu else starts_ms(facts, len(facts.layers)))
    if left_ms <= 0:
        return None
    gb = gb_per_token(facts)
    return Rate(
        device=device,
        on_cpu=on_cpu,
        model=facts.name,
        tps=tps,
        gb_per_token=gb,
        gb_per_s=gb / left_ms * _MS,
        source=source,
    )


def gb_per_token(facts: Facts) -> float:
    """What a token reads of a model's weights."""
    return sum(bytes_per_step(facts, LayerPlacement(layers=facts.placed_layers), 1)) / _GB


def reached(rates: Iterable[Rate], gb: float) -> float | None:
    """The rate for a model that reads so much: the middle of the models nearest to it in size."""
    distances = [(abs(math.log(rate.gb_per_token / gb)), rate.gb_per_s) for rate in rates]
    least = min((distance for distance, _ in distances), default=0.0)
    nearest = [rate for distance, rate in distances if distance <= least + _ALIKE]
    return statistics.median(nearest) if nearest else None


def leave_one_out(rates: Sequence[Rate]) -> SpeedError | None:
    """Every speed predicted from the other results of its device."""
    factors, devices = [], set()
    for rate in rates:
        same = (rate.device, rate.on_cpu)
        others = [x for x in rates if x is not rate and (x.device, x.on_cpu) == same]
        expected = reached(others, rate.gb_per_token)
        if expected is not None:
            factors.append(expected / rate.gb_per_s)
            devices.add(rate.device)
    return _speed_error(factors, len(devices))


def without_results(rates: Sequence[Rate], bandwidths: Mapping[str, float]) -> SpeedError | None:
    """Every speed predicted from the nominal bandwidth of its device alone."""
    known = [rate for rate in rates if rate.device in bandwidths and not rate.on_cpu]
    factors = [bandwidths[rate.device] * EFFICIENCY / rate.gb_per_s for rate in known]
    return _speed_error(factors, len({rate.device for rate in known}))


def _speed_error(factors: Sequence[float], devices: int) -> SpeedError | None:
    if not factors:
        return None
    sizes = [max(factor, 1 / factor) for factor in factors]
    within = sum(size <= NEAREST_ERROR for size in sizes) / len(sizes)
    middle = statistics.median(sizes)
    return SpeedError(points=len(sizes), devices=devices, within=within, median=middle)


def results_error(used: Sequence[tuple[float, float]]) -> ResultsError | None:
    """The error over pairs of planned and measured MiB."""
    errors = [abs(planned - measured) for planned, measured in used]
    if not errors:
        return None
    middle = statistics.median(errors)
    return ResultsError(points=len(errors), median_mib=middle, worst_mib=max(errors))


def _file(name: str) -> object:
    return json.loads(resources.files("estimates.plan").joinpath(name).read_bytes())


@cache
def logged_memory_error() -> LoggedMemoryError:
    """How far planned memory is from public logs, as `bench.plan` computed it."""
    value = _file("planner_errors.json")
    found = value if isinstance(value, dict) else {}
    return LoggedMemoryError(**found["memory"])


@cache
def learned() -> tuple[tuple[Rate, ...], Errors]:
    """What the pipeline last learned from all results: rates by device, and the errors."""
    value = _file("learned.json")
    found = value if isinstance(value, dict) else {}
    rates = tuple(Rate(**each) for each in found["rates"])
    return rates, _errors_from(found["errors"])


@cache
def curves() -> tuple[YieldCurve, ...]:
    """Published yields of rounds by model and method."""
    value = _file("learned.json")
    found = value["curves"] if isinstance(value, dict) else ()
    return tuple(YieldCurve(**{**each, "tokens": tuple(each["tokens"])}) for each in found)


def rounds_of(method: str, depth: int) -> Rounds | None:
    """What published pairs say about rounds of a method at a depth."""
    value = _file("learned.json")
    found = value["rounds"] if isinstance(value, dict) else ()
    same = (each for each in found if (each["method"], each["depth"]) == (method, depth))
    entry = next(same, None)
    return Rounds(**entry) if entry else None


def _errors_from(value: Mapping[str, dict[str, float] | None]) -> Errors:
    speed, bare, results = (value[key] for key in ("speed", "bare", "results"))
    return Errors(
        speed=SpeedError(**speed) if speed else None,  # type: ignore[arg-type]
        bare=SpeedError(**bare) if bare else None,  # type: ignore[arg-type]
        memory=logged_memory_error(),
        results=ResultsError(**results) if results else None,  # type: ignore[arg-type]
    )
