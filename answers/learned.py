"""Read what the pipeline derived from all results: bandwidths and planner errors.

The pipeline writes `learned.json`. The errors of planned memory in public logs come from
`planner_errors.json`, which `python -m bench.plan --write` computes.
"""

import json
from functools import cache
from importlib import resources

import msgspec

from answers.rates import Rate
from schemas.codec import decode
from schemas.vocabulary import say

_FILES = resources.files("answers")


class SpeedError(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of predicted speeds: the share within `speed.NEAREST_ERROR`, and the median factor."""

    points: int
    devices: int
    within: float
    median: float


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

    @property
    def words(self) -> str:
        """The error of planned memory against public logs, in words."""
        right = "right for all" if not self.fits_wrong else f"wrong for {self.fits_wrong} of"
        return (
            f"device memory: median error {self.total_median_mib:.0f} MiB over "
            f"{say.count(self.totals, 'held-out log')}, maximum {self.total_worst_mib:.0f} MiB; "
            f'the prediction "fits" was {right} {say.count(self.fits_points, "log")}'
        )


class ResultsError(msgspec.Struct, frozen=True, kw_only=True):
    """The error in MiB of the planned memory, compared with the memory measured in results."""

    points: int
    median_mib: float
    worst_mib: float


class Errors(msgspec.Struct, frozen=True, kw_only=True):
    """The planner's errors: `speed` where a result from the same device is known, else `bare`."""

    speed: SpeedError | None
    bare: SpeedError | None
    results: ResultsError | None


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `learned.json`: rates by device, and the planner's errors."""

    errors: Errors
    rates: tuple[Rate, ...]


@cache
def learned() -> Learned:
    """The bandwidths and errors that the pipeline last derived from all results."""
    return decode(Learned, json.loads(_FILES.joinpath("learned.json").read_bytes()))


@cache
def logged_memory_error() -> LoggedMemoryError:
    """The error of planned memory compared with public logs, as computed by `bench.plan`."""
    found = json.loads(_FILES.joinpath("planner_errors.json").read_bytes())
    return decode(LoggedMemoryError, found["memory"])
