"""Read the errors of planned memory and speeds, as `python -m bench.plan --write` computes them."""

from functools import cache
from importlib import resources

import msgspec


class LoggedMemoryError(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of planned memory in public logs: a share for caches, MiB for the total of a device.

    Caches (recurrent states included) and totals are from held-out logs, layers and fits from all
    logs. When the planner decides what "fits", it allows for an error. In a leave-one-source-out
    test, the allowance was too small for `fits_wrong` logs. `fits_worst` is the largest share of
    the allowance that any log used.
    """

    points: int
    cache_worst: float
    totals: int
    total_median_mib: float
    total_worst_mib: float
    layers_worst: int
    fits_points: int
    fits_wrong: int
    fits_worst: float


class SpeedError(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of plain speeds in results: the share within `speed.SPEED_ERROR`, and the median."""

    points: int
    within: float
    median: float


class PlannerErrors(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `planner_errors.json`."""

    memory: LoggedMemoryError
    speed: SpeedError


@cache
def planner_errors() -> PlannerErrors:
    """The errors that ship with the program."""
    data = resources.files("planner").joinpath("planner_errors.json").read_bytes()
    return msgspec.json.decode(data, type=PlannerErrors)
