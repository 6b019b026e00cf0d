"""How far the planner is from what was measured: plain speeds, each left out in turn, and memory.

A plain speed times the bytes that a token reads is the rate that a device's memory reached. Another
model on the same device is read at about that rate; `leave_one_out` says how nearly. Memory is
compared with public logs by kind of buffer (`memory_points.json`).
"""

import json
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from estimates.plan.model import Buffers, Facts, Memory, Placement
from estimates.plan.placement import Case, Projection, fit, project
from estimates.plan.points import Point, point_of
from estimates.plan.speculation import Curve, Rounds
from estimates.plan.speed import EFFICIENCY, NEAREST_ERROR, bytes_per_step, starts_ms

_ALIKE = 0.2  # models whose sizes differ by less are equally near
RUNTIME_MIB = 140  # what CUDA itself takes of a card
_GB, _MS = 1e9, 1000.0
_KEYS = {"rs": "recurrent", "kv_swa": "kv"}
_NOT_PLANNED = {"runtime_rs_checkpoint", "cuda_host_model"}
_PLACED = re.compile(r"(\d+)/(\d+)")


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
class MemoryError:  # noqa: A001 - the planner's, of memory
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
    memory: MemoryError | None
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
    return sum(bytes_per_step(facts, Placement(layers=facts.placed_layers), 1)) / _GB


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A point with its prediction: (fact, plan) in MiB by kind, over all and in layers."""

    id: str
    kinds: Mapping[str, tuple[float, float]]
    caches: Mapping[str, tuple[float, float]]
    total: tuple[float, float] | None
    layers: tuple[int, int] | None


def compared(entry: Mapping[str, object]) -> Compared:
    """A point of a list against its plan. Raises `PointError` for one that cannot be planned."""
    point = point_of(entry)
    found = _projection(point)
    fact = dict(_facts(entry))
    if not point.facts.weights_known:
        fact.pop("model", None)
    planned = {kind: sum(getattr(x, kind) for x in found.devices) for kind in Buffers().by_kind()}
    planned["context"] = planned["kv"] + planned["recurrent"]
    kinds = {kind: (mib, planned[kind]) for kind, mib in fact.items()}
    total = None
    used = entry.get("vram_mb_total")
    if isinstance(used, int | float):
        total = (float(used), found.devices[0].total() + RUNTIME_MIB)
    elif len(fact) > 1 and "model" in fact:
        total = (sum(fact.values()), sum(planned[kind] for kind in fact))
    return Compared(
        id=str(entry.get("id") or point.name),
        kinds={} if isinstance(used, int | float) else kinds,
        caches=dict(_everywhere(entry, kinds, found)),
        total=total,
        layers=_layers(entry, found),
    )


def memory_error(points: Sequence[Compared]) -> MemoryError:
    """The errors over points that were compared."""
    caches = [abs(plan / fact - 1) for each in points for fact, plan in each.caches.values()]
    totals = [abs(each.total[1] - each.total[0]) for each in points if each.total]
    layers = [abs(each.layers[1] - each.layers[0]) for each in points if each.layers]
    return MemoryError(
        points=len(points),
        cache_worst=max(caches, default=0.0),
        totals=len(totals),
        total_median_mib=statistics.median(totals) if totals else 0.0,
        total_worst_mib=max(totals, default=0.0),
        layers_worst=max(layers, default=0),
    )


def results_error(used: Sequence[tuple[float, float]]) -> ResultsError | None:
    """The error over pairs of planned and measured MiB."""
    errors = [abs(planned - measured) for planned, measured in used]
    if not errors:
        return None
    middle = statistics.median(errors)
    return ResultsError(points=len(errors), median_mib=middle, worst_mib=max(errors))


def _projection(point: Point) -> Projection:
    case = Case(
        target=point.facts,
        setting=point.setting,
        devices=point.devices,
        host=Memory(name="host", free_mib=1e9),
        uses_head=point.uses_head,
    )
    return fit(case) if point.layers is None else project(case, Placement(layers=point.layers))


def _facts(entry: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """MiB by kind over all devices."""
    listed = entry.get("device_mib")
    if not isinstance(listed, dict):
        return
    places = (
        list(listed.values()) if any(isinstance(x, dict) for x in listed.values()) else [listed]
    )
    sums: dict[str, float] = {}
    for place in places:
        for key, mib in place.items():
            if key not in _NOT_PLANNED and not key.startswith("mmproj"):
                name = _KEYS.get(str(key), str(key))
                sums[name] = sums.get(name, 0.0) + mib
    yield from sums.items()


def _everywhere(
    entry: Mapping[str, object], kinds: Mapping[str, tuple[float, float]], found: Projection
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Caches and states over all places, wherever the layers were put."""
    listed = entry.get("host_mib")
    host = listed if isinstance(listed, dict) else {}
    for kind in ("kv", "recurrent"):
        own = sum(mib for key, mib in host.items() if _KEYS.get(key, key) == kind)
        fact, planned = kinds.get(kind, (0.0, sum(getattr(x, kind) for x in found.devices)))
        if fact + own:
            yield kind, (fact + own, planned + getattr(found.host, kind))


def _layers(entry: Mapping[str, object], found: Projection) -> tuple[int, int] | None:
    """Layers as an engine chose them, where it is known what was free."""
    match = _PLACED.match(str(entry.get("layers") or ""))
    chosen = str(entry.get("ngl")).startswith("fit") and entry.get("free_mib_at_fit") is not None
    return (int(match[1]), found.placement.layers) if match and chosen else None


def _file(name: str) -> object:
    return json.loads(resources.files("estimates.plan").joinpath(name).read_bytes())


@cache
def memory_points() -> tuple[Compared, ...]:
    """The public points that the planner is checked with."""
    value = _file("memory_points.json")
    listed = value if isinstance(value, dict) else {}
    entries = [*listed["points"], *listed["totals_only"]]
    return tuple(compared(entry) for entry in entries)


@cache
def learned() -> tuple[tuple[Rate, ...], Errors]:
    """What the pipeline last learned from all results: rates by device, and the errors."""
    value = _file("learned.json")
    found = value if isinstance(value, dict) else {}
    rates = tuple(Rate(**each) for each in found["rates"])
    return rates, _errors_from(found["errors"])


@cache
def curves() -> tuple[Curve, ...]:
    """Published yields of rounds by model and method."""
    value = _file("learned.json")
    found = value["curves"] if isinstance(value, dict) else ()
    return tuple(Curve(**{**each, "tokens": tuple(each["tokens"])}) for each in found)


def rounds_of(method: str, depth: int) -> Rounds | None:
    """What published pairs say about rounds of a method at a depth."""
    value = _file("learned.json")
    found = value["rounds"] if isinstance(value, dict) else ()
    same = (each for each in found if (each["method"], each["depth"]) == (method, depth))
    entry = next(same, None)
    return Rounds(**entry) if entry else None


def _errors_from(value: Mapping[str, dict[str, float] | None]) -> Errors:
    speed, bare, memory, results = (value[key] for key in ("speed", "bare", "memory", "results"))
    return Errors(
        speed=SpeedError(**speed) if speed else None,  # type: ignore[arg-type]
        bare=SpeedError(**bare) if bare else None,  # type: ignore[arg-type]
        memory=MemoryError(**memory) if memory else None,  # type: ignore[arg-type]
        results=ResultsError(**results) if results else None,  # type: ignore[arg-type]
    )
