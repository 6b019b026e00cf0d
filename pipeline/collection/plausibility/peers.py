"""Compare a baseline's speed with other baselines' speeds, by device and target."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from estimates.identity import Identity
from estimates.roofline import bytes_per_token
from estimates.trial_times import ms_per_token
from schemas.submission import Submission

# A device with its backend, and a target; no target means any.
Place: TypeAlias = tuple[str, str, tuple[str, str] | None]
_MAD_TO_SIGMA = 1.4826
_LEAST_SPREAD = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSpeed:
    """The speed of a submission's baseline, with its device, target and account."""

    device: tuple[str, str]
    target: tuple[str, str]
    account: str
    tps: float
    bytes_per_s: float | None

    @classmethod
    def of(cls, submission: Submission, named: Identity, account: str) -> Self | None:
        """The baseline speed of a submission; `None` if no baseline trial finished."""
        baselines = {arm.id for arm in submission.arms if arm.role == "baseline"}
        timed = (ms_per_token(trial) for trial in submission.trials if trial.arm in baselines)
        times = [ms for ms in timed if ms]
        if not times:
            return None
        tps = 1000 / median(times)
        used = bytes_per_token(submission.target)
        return cls(
            device=(named.device, submission.engine.backend_label),
            target=(named.target, named.quantisation),
            account=account,
            tps=tps,
            bytes_per_s=None if used is None else used * tps,
        )


def peer_speeds(speeds: Iterable[BaselineSpeed | None]) -> dict[Place, dict[str, float]]:
    """The logarithm of each account's median speed on each device.

    Speeds are in tokens/s for each target, and in bytes/s over all targets.
    """
    found: defaultdict[Place, defaultdict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for each in filter(None, speeds):
        found[*each.device, each.target][each.account].append(each.tps)
        if each.bytes_per_s is not None:
            found[*each.device, None][each.account].append(each.bytes_per_s)
    return {
        place: {account: math.log(median(own)) for account, own in accounts.items()}
        for place, accounts in found.items()
    }


def speeds_of_others(speeds: Mapping[str, float], account: str) -> NDArray[np.float64]:
    """The logarithms of all speeds except this account's."""
    return np.array([speed for other, speed in speeds.items() if other != account])


def distance(value: float, peers: NDArray[np.float64]) -> tuple[float, float]:
    """The distance of a value's logarithm from the peers' median, and its modified z-score."""
    center = float(np.median(peers))
    spread = _MAD_TO_SIGMA * float(np.median(np.abs(peers - center)))
    far = math.log(value) - center
    return far, far / max(spread, _LEAST_SPREAD)
