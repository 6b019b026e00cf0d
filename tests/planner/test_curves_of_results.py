"""The planner's statements on measured curves agree with `results/`."""

import math
from collections.abc import Iterator

from estimates.decomposition import predicted_speedup
from estimates.pairing import pair
from planner.rounds import CURVE_ARMS, TRANSFER_ERROR
from schemas.contract import read
from schemas.submission import Submission
from tests.first_results import FIRST


def distances() -> Iterator[float]:
    """Differences between each arm's speedup and the one from its curve and counted rounds."""
    for path in FIRST:
        found = read(path.read_bytes())
        assert isinstance(found, Submission)
        for arm in found.arms if found.probes and found.probes.verification else ():
            logs = [
                math.log(prompt.speedup / predicted)
                for prompt in (pair(found, arm) if arm.method.type != "none" else ())
                if prompt.trials
                and (predicted := predicted_speedup(arm.method, prompt.trials, found.probes))
            ]
            if logs:
                yield abs(sum(logs) / len(logs))


def test_curves_with_counted_yields_are_as_near_to_measured_speedups_as_the_planner_says() -> None:
    found = list(distances())
    within = sum(distance <= TRANSFER_ERROR for distance in found)

    assert len(found) >= CURVE_ARMS[1]
    assert within / len(found) >= 0.85
    if len(found) == CURVE_ARMS[1]:
        assert within == CURVE_ARMS[0]
