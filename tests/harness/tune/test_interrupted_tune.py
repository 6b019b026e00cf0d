"""Ctrl-C at any moment of a tune gives code 130, the results so far, and a resumable state."""

from itertools import count
from pathlib import Path

import pytest

from harness.errors import BadInputError, NothingMeasuredError
from harness.report.events import Event, TrialsPlanned, TrialStarted
from harness.run.time_limit import FIRST_ANSWERS
from harness.tune.outcome import lines
from harness.tune.search import StageName
from harness.tune.tune_clock import TuneClock
from tests.harness.tune.test_tune import TUNE, TYPICAL_RIG, call, tuner
from tests.nightly import few

pytestmark = pytest.mark.usefixtures("fake_engine")


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize(
    ("stop_at", "stages"),
    few(
        [
            pytest.param(("look", 1), ()),
            *(pytest.param(("look", trial), ("look",)) for trial in (2, 5, 16)),
            pytest.param(("certificate", 1), ("look",)),
            *(pytest.param(("certificate", trial), ("look", "certificate")) for trial in (2, 40)),
        ],
        2,
    ),
)
def test_ctrl_c_at_any_moment_shows_partial_results_and_leaves_a_resumable_state(
    stop_at: tuple[StageName, int], stages: tuple[StageName, ...]
) -> None:
    stopping = tuner(TYPICAL_RIG, "prompt-lookup", tokens=8, stop_at=stop_at)
    if stages:
        stopped = stopping.run()
        assert (tuple(stopped.stages), stopped.interrupted) == (stages, True)
        shown = " ".join(lines(stopped))
        assert stages[-1] == "certificate" or "the tune ended with its look" in shown
    else:
        with pytest.raises(NothingMeasuredError, match="add --resume to continue") as caught:
            stopping.run()
        assert caught.value.exit_code == 130

    resumed = tuner(TYPICAL_RIG, "prompt-lookup", tokens=8, resume=True).run()

    assert resumed.certified


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize(
    ("kind", "number", "said"),
    [
        (TrialStarted, 1, "Error: no answer was finished before the run ended; add --resume to"),
        (TrialStarted, 2, " --resume\n"),
        (
            TrialsPlanned,
            2,
            " --resume\n",
        ),  # between the look and the certificate
    ],
)
def test_an_interrupted_tune_ends_with_130_and_the_command_to_continue(
    tmp_path: Path,
    models: list[str],
    monkeypatch: pytest.MonkeyPatch,
    kind: type,
    number: int,
    said: str,
) -> None:
    options = (*TUNE, *models, "--max-tokens", "8", "--deepest", "2", "--output", str(tmp_path))
    seen: list[Event] = []
    watched = TuneClock.observe

    def observe(self: TuneClock, event: Event) -> None:
        watched(self, event)
        seen.append(event)
        if isinstance(event, kind) and sum(isinstance(each, kind) for each in seen) == number:
            raise KeyboardInterrupt

    monkeypatch.setattr(TuneClock, "observe", observe)

    stopped, resumed = call(*options), call(*options, "--resume")

    assert stopped.exit_code == 130
    assert said in stopped.stderr
    assert resumed.exit_code == 0, resumed.stderr


@pytest.mark.usefixtures("cache_dir")
def test_a_limit_that_is_too_short_for_a_pick_ends_the_look_which_can_continue() -> None:
    short = tuner(TYPICAL_RIG, "prompt-lookup", tokens=8)
    short.limit_s, short.clock = 60.0, count(step=2.0).__next__

    with pytest.raises(BadInputError, match=r"is too short: a pick takes about .* --budget"):
        short.run()

    assert len(short.elapsed.trials) == FIRST_ANSWERS
    assert tuner(TYPICAL_RIG, "prompt-lookup", tokens=8, resume=True).run().certified
