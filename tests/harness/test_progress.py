"""Does the progress display say what happens, and only failures where nobody watches?"""

import io
import time

from rich.console import Console

from harness.campaign.duration import Expected
from harness.campaign.model import PlannedTrial
from harness.report.progress import ProgressDisplay
from harness.run import events
from harness.runners.base import Failure

EXPECTED = Expected(seconds=1, least_seconds=1, token_s=0.1)
TRIAL = PlannedTrial(order=0, block=0, prompt="code-one", arm="baseline")
ALL = (
    events.TrialsPlanned(total=3, done=1),
    events.Loading(what="Big-7B"),
    events.WarmingUp(arm="baseline"),
    events.Probing(),
    events.TrialStarted(trial=TRIAL),
    events.TrialEnded(trial=TRIAL, tps=12.34),
)


def shown(*happened: events.Event, terminal: bool = True) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, color_system=None)
    with ProgressDisplay(console) as display:
        for event in happened:
            display(event)
    return out.getvalue()


def test_a_terminal_shows_arm_prompt_rate_and_how_many_are_done() -> None:
    text = shown(*ALL)

    assert "baseline · code-one" in text
    assert "12.3 tokens/s" in text
    assert "2/3" in text


def test_of_a_tune_the_time_until_all_of_it_is_done_is_shown() -> None:
    out = io.StringIO()
    with ProgressDisplay(Console(file=out, width=120)) as display:
        display(events.TrialsPlanned(total=1), name="1 look")
        display(events.TrialEnded(trial=TRIAL, tps=12.34), name="1 look", left_s=240.0)

    assert out.getvalue() == "1 look: 1 of 1 trials, about 4 min left until all is done\n"


def test_a_failed_trial_counts_and_says_its_reason() -> None:
    failure = Failure(reason="out-of-memory", detail="no room")

    text = shown(events.TrialsPlanned(total=1), events.TrialEnded(trial=TRIAL, failure=failure))

    assert "failed: out-of-memory" in text
    assert "1/1" in text


def test_a_log_gets_a_line_after_each_tenth_of_the_trials() -> None:
    ended = events.TrialEnded(trial=TRIAL, tps=12.34)

    lines = shown(events.TrialsPlanned(total=40), *[ended] * 40, terminal=False).splitlines()

    # Before the second trial nobody knows how long one takes, and the first tenth is the fourth.
    counts = [f"{count} of 40 trials" for count in range(4, 41, 4)]
    assert [line.partition(",")[0] for line in lines] == counts
    assert lines[0].endswith(" left")
    assert lines[-1] == "40 of 40 trials"


def test_a_log_hears_of_each_trial_of_a_short_plan_once() -> None:
    line = shown(*ALL, events.Finished(), terminal=False)

    assert line.startswith("2 of 3 trials")
    assert line.count("\n") == 1


def test_what_fails_is_told_with_its_reason_and_only_once() -> None:
    failure = Failure(reason="crashed", detail="nothing listens at [::1]:80")
    trial = events.TrialEnded(trial=TRIAL, failure=failure)
    arm = events.ArmFailed(arm="draft-model-n3", failure=failure)

    assert shown(arm, trial, trial, terminal=False) == (
        "draft-model-n3 cannot run: nothing listens at [::1]:80 [crashed]\n"
        "baseline failed: nothing listens at [::1]:80 [crashed]\n"
    )
    assert "draft-model-n3 cannot run: nothing listens" in shown(arm)


def test_a_run_that_takes_half_as_long_again_says_so_once() -> None:
    out = io.StringIO()
    console = Console(file=out, width=120)

    with ProgressDisplay(console, expected=EXPECTED.times(0.02)) as display:
        display(events.TrialsPlanned(total=3, done=1))
        waited = time.monotonic() + 10
        while not out.getvalue() and time.monotonic() < waited:
            time.sleep(0.01)
        time.sleep(0.1)  # a second time would come as soon

    assert out.getvalue() == (
        "This takes longer than the 1 s that were expected. "
        "Ctrl-C ends it and keeps what was measured.\n"
    )


def test_the_first_warm_up_corrects_what_is_expected() -> None:
    out = io.StringIO()

    with ProgressDisplay(Console(file=out, width=120), expected=EXPECTED.times(60)) as display:
        display(events.WarmedUp(arm="baseline", token_s=0.4))
        display(events.WarmedUp(arm="draft-model-n4", token_s=0.1))

    assert out.getvalue() == "As fast as the warm-up, this takes about 4 min.\n"


def test_a_run_in_time_says_nothing_of_it() -> None:
    out = io.StringIO()

    with ProgressDisplay(Console(file=out, width=120), expected=EXPECTED.times(60)):
        pass

    assert out.getvalue() == ""
