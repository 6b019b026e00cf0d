"""Trials wait until a device has warmed up, and start at once if it does not change."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from harness.report.events import Event, Settled
from harness.run.warm_until_steady import wait_until_settled
from harness.runners.base import EngineReport, Failure, Generation, PreparedArm, Totals
from schemas.submission import Snapshot
from tests.harness.campaigns import campaign, context, measure
from tests.harness.fake_runner import FakeRig, FakeSession

ANSWER = Generation(
    tokens=None, margins=None, prompt_tokens=9, prompt_sha256=None, prompt_ms=None, wall_ms=1000.0,
    rounds=Totals(decode_ms=1000.0), finish="length", counted_tokens=24,
)  # fmt: skip
DONE = PreparedArm(load_s=None, warm_up=ANSWER)


def settled(
    state: Callable[[float], Snapshot],
    *,
    warm_up: Callable[[], PreparedArm | Failure] = lambda: DONE,
) -> tuple[Snapshot | None, float]:
    """The outcome and its time in seconds; an answer and a reading take two seconds."""
    clock = count(step=2.0)
    now = [0.0]

    def tick() -> float:
        now[0] = float(next(clock))
        return now[0]

    found = wait_until_settled(warm_up, DONE, lambda: state(now[0]), tick)
    return found, now[0]


def cooling(seconds: float) -> Snapshot:
    """A card that starts at 60 °C and warms by a degree in two seconds, up to 75 °C."""
    return Snapshot(
        moment="warm", gpu_clock_mhz=2000.0, gpu_temperature_c=60.0 + min(15.0, seconds / 2)
    )


def test_trials_wait_until_readings_ten_seconds_apart_agree() -> None:
    found, seconds = settled(cooling)

    # It has 75 °C from the 30th second on; 74 °C ten seconds before the 40th are near enough.
    assert found == replace(cooling(30), steady=True)
    assert seconds == 40


@pytest.mark.parametrize(
    "state",
    [
        lambda s: Snapshot(moment="warm", gpu_clock_mhz=2000.0 - 10 * s),
        lambda s: Snapshot(moment="warm", gpu_power_w=100.0 + s),
        lambda s: Snapshot(moment="warm", gpu_power_w=100.0, gpu_temperature_c=40.0 + s / 2),
    ],
)
def test_a_device_that_never_settles_is_measured_after_a_minute(
    state: Callable[[float], Snapshot],
) -> None:
    found, seconds = settled(state)

    assert found is not None
    assert not found.steady
    assert seconds == 60


def test_without_readings_the_device_is_not_warmed_up() -> None:
    def never() -> PreparedArm:
        raise AssertionError

    assert settled(lambda _: Snapshot(moment="warm", cpu_mhz=3000.0), warm_up=never)[0] is None


def test_a_device_that_fails_to_compute_is_left_to_the_trials() -> None:
    failed = Failure(reason="crashed", detail="")

    assert settled(cooling, warm_up=lambda: failed)[0] is None


class OnGpu(FakeSession):
    def report(self) -> EngineReport:
        made = super().report()
        return replace(made, engine=replace(made.engine, backend="cuda", devices=None))


def test_the_file_says_that_the_device_had_settled(tmp_path: Path) -> None:
    seen: list[Event] = []
    around = replace(
        context(seen.append),
        snapshot=lambda moment: Snapshot(moment=moment, gpu_clock_mhz=2000.0),
    )

    submission = measure(
        campaign(),
        runner=partial(OnGpu, FakeRig()),
        context=around,
        work_file=tmp_path / "run.jsonl",
        resume=False,
    )

    states = {state.moment: state.steady for state in submission.environment or ()}
    assert states == {"before": None, "warm": True, "during": None, "after": None}
    assert [event.steady for event in seen if isinstance(event, Settled)] == [True]
