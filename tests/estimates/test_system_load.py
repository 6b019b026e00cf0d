"""A verdict under load is more cautious than one on a quiet machine."""

import math
import random
from dataclasses import replace

import pytest

from estimates.model import Interval
from estimates.summary import summarize
from estimates.system_load import moved, strain, widen_for_load
from schemas.submission import Snapshot, Submission
from tests.samples import sample

QUIET = sample()  # 16 logical cores, 8 threads of its own
PUBLISHED = Interval(low=0.70, high=0.83)


def under(moment: str, **state: float) -> Submission:
    return replace(QUIET, environment=(Snapshot(moment=moment, **state),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("moment", "state", "expected"),
    [
        ("before", {"load_1min": 1.0}, 0.0),
        ("before", {"load_1min": 17.0}, 1.0),
        # The current usage counts, and not the load average, unless all cores are busy.
        ("before", {"load_1min": 17.0, "busy_fraction": 0.02}, 0.02),
        ("before", {"load_1min": 2.0, "busy_fraction": 0.5}, 0.5),
        ("before", {"load_1min": 33.0, "busy_fraction": 0.99}, 2.0),
        ("before", {"busy_fraction": 1.0}, 1.0),
        ("after", {"load_1min": 8.0}, 0.0),
        ("after", {"load_1min": 24.0}, 1.0),
        # Someone waited half of the time: there was twice as much work as was done.
        ("before", {"cpu_pressure": 0.5}, 1.0),
        # Later the campaign's own threads make others wait.
        ("after", {"cpu_pressure": 0.5}, 0.0),
        ("after", {"steal_fraction": 0.2}, 0.25),
    ],
)
def test_strain_is_the_load_of_other_programs_per_core(
    moment: str, state: dict[str, float], expected: float
) -> None:
    assert strain(under(moment, **state)) == pytest.approx(expected)


def test_a_quiet_machine_leaves_the_interval_as_it_is() -> None:
    assert widen_for_load(PUBLISHED, QUIET) == PUBLISHED
    assert widen_for_load(None, under("before", load_1min=90.0)) is None


def test_an_interval_under_twenty_busy_programs_on_two_cores_contains_the_quiet_figure() -> None:
    two_cores = replace(
        under("before", load_1min=21.0),
        machine=replace(QUIET.machine, cpu=replace(QUIET.machine.cpu, logical_cores=2)),
    )

    wider = widen_for_load(PUBLISHED, two_cores)

    # Ten programs per core move the logarithm by 0.25 at most; 0.085 was there:
    # 0.762 times e^(-+0.264).
    assert moved(two_cores) == 0.25
    assert wider is not None
    assert (wider.low, wider.high) == (
        pytest.approx(0.585, abs=1e-3),
        pytest.approx(0.993, abs=1e-3),
    )
    assert wider.low < 0.88 < wider.high


def test_a_very_busy_machine_is_a_serious_flag_and_a_busy_one_is_not() -> None:
    found = {
        load: next(
            flag.severity
            for flag in summarize(under("before", load_1min=load)).flags
            if flag.name == "busy-machine"
        )
        for load in (20.0, 40.0)
    }

    assert found == {20.0: "caution", 40.0: "serious"}


def test_nineteen_of_twenty_campaigns_under_load_contain_the_quiet_figure() -> None:
    """The ratio of a campaign shifts with its load, as in quick runs beside busy programs.

    Up to three programs per core shift the logarithm by up to 0.05 each, in one direction. The
    campaign's own interval has a half-width of 3 % and misses in one of twenty by design.
    """
    rng = random.Random(14)  # noqa: S311 - a simulation
    held = {"plain": 0, "widened": 0}
    for _ in range(1000):
        busy = rng.uniform(0.3, 3.0)
        made = under("before", load_1min=1 + 16 * busy)
        found = -0.05 * busy + rng.gauss(0, 0.03 / 1.96)
        own = Interval(low=math.exp(found - 0.03), high=math.exp(found + 0.03))
        wider = widen_for_load(own, made)
        assert wider is not None
        held["plain"] += own.low <= 1 <= own.high
        held["widened"] += wider.low <= 1 <= wider.high

    assert held["plain"] < 400
    assert held["widened"] >= 950
