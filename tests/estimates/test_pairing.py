"""Trials are paired by prompt and block, and only where both arms finished."""

import math
from dataclasses import replace

import pytest

from estimates.pairing import PromptPairs, median_half_width, pair, plain_tps
from schemas.submission import Submission
from tests.estimates.campaigns import SPEC, campaign, failed, trial


def blocks(baseline: tuple[float, ...], spec: tuple[float, ...]) -> PromptPairs:
    """One prompt; entry b is the decode time of ten tokens in block b."""
    base = [trial("baseline", block=b, decode_ms=ms) for b, ms in enumerate(baseline)]
    own = [trial("spec", block=b, decode_ms=ms) for b, ms in enumerate(spec)]
    (pairs,) = pair(campaign([*base, *own]), SPEC)
    return pairs


def test_the_speedup_is_the_ratio_of_the_medians_of_the_times_by_the_pace_of_their_block() -> None:
    # Medians 200 and 50, so that the blocks' paces are 150, 250 and 400 over 250. By them the times
    # are 166.7, 200 and 187.5 against 83.3, 50 and 62.5.
    pairs = blocks((100.0, 200.0, 300.0), (50.0, 50.0, 100.0))

    assert pairs.paces == pytest.approx((0.6, 1.0, 1.6))
    assert (pairs.baseline_ms, pairs.arm_ms) == pytest.approx((18.75, 6.25))
    assert pairs.speedup == pytest.approx(3.0)


def test_the_pace_is_that_of_all_arms_of_a_baseline() -> None:
    # The machine is half as fast in block 1, and a stall hits the third arm in block 2. All arms
    # take 200, 400 and 210 ms; their medians 100, 50 and 60 are 210.
    times = {"baseline": (100.0, 200.0, 100.0), "spec": (50.0, 100.0, 50.0)}
    stalled = replace(SPEC, id="stalled")
    trials = [
        trial(arm, block=at, decode_ms=ms)
        for arm, values in {**times, "stalled": (50.0, 100.0, 60.0)}.items()
        for at, ms in enumerate(values)
    ]
    made = campaign(trials)

    (pairs,) = pair(replace(made, arms=(*made.arms, stalled)), SPEC)

    assert pairs.paces == pytest.approx((200 / 210, 400 / 210, 1.0))
    assert (pairs.baseline_ms, pairs.arm_ms) == pytest.approx((10.5, 5.25))


def test_with_two_blocks_it_is_the_ratio_of_their_means() -> None:
    # 250 / 50.
    assert blocks((100.0, 400.0), (50.0, 50.0)).speedup == pytest.approx(5.0)


def test_a_machine_that_halves_its_speed_between_blocks_changes_nothing() -> None:
    pairs = blocks((100.0, 200.0, 400.0), (50.0, 100.0, 200.0))

    assert pairs.block_log_ratios == pytest.approx([math.log(2)] * 3)
    assert pairs.speedup == pytest.approx(2.0)


def test_one_disturbed_block_of_three_changes_nothing() -> None:
    assert blocks((100.0, 100.0, 100.0), (50.0, 900.0, 50.0)).speedup == pytest.approx(2.0)


def timed_out(block: int, reason: str = "timed-out") -> Submission:
    """Plain decoding takes 10 ms a token, the arm 5; in one block the arm times out after 4 s."""
    given = trial("baseline"), trial("spec", decode_ms=50.0), trial("baseline", block=block)
    gone = replace(failed("spec", block=block), reason=reason, wall_ms=4000.0)
    made = campaign([*given, gone])
    return replace(made, settings=replace(made.settings, max_output_tokens=41))


def test_a_trial_that_ran_out_of_time_counts_with_its_limit() -> None:
    # 4,000 ms over 40 tokens after the first: at least 100 ms a token. Mean of 5 and 100: 52.5.
    (pairs,) = pair(timed_out(block=1), SPEC)

    assert pairs.failed == ((10.0, 100.0),)
    assert pairs.speedup == pytest.approx(10 / 52.5)
    assert len(pairs.block_log_ratios) == 1


def test_a_trial_that_crashed_says_nothing_about_speed() -> None:
    (pairs,) = pair(timed_out(block=1, reason="crashed"), SPEC)

    assert pairs.speedup == pytest.approx(2.0)


def test_the_rate_of_an_arm_alone_is_that_of_its_speedup() -> None:
    # Code: medians 10 and 30 ms a token; chat: 40. (20 + 40) / 2 = 30 ms a token.
    trials = [
        trial("baseline", "code-1", block=0, decode_ms=90.0),
        trial("baseline", "code-1", block=1, decode_ms=100.0),
        trial("baseline", "code-1", block=2, decode_ms=900.0),
        trial("baseline", "code-2", decode_ms=300.0),
        trial("baseline", "chat-1", decode_ms=400.0),
    ]

    found = plain_tps(campaign(trials, prompts=("code-1", "code-2", "chat-1")))

    assert found == pytest.approx(1000 / 30)


def test_the_plain_rate_includes_the_stalls_of_its_trials() -> None:
    # Ten rounds of 10 ms in a trial of 150 ms: the excess is 1.5, the rate that of the wall clock.
    rounds = {"drafted_histogram": (10,), "round_ms_median": (10.0,)}
    made = campaign([trial("baseline", decode_ms=150.0, **rounds)])

    assert plain_tps(made) == pytest.approx(1000 / 15)


def test_a_block_without_the_baseline_is_excluded() -> None:
    trials = [
        trial("baseline", block=0, decode_ms=100.0),
        trial("spec", block=0, decode_ms=50.0),
        failed("baseline", block=1),
        trial("spec", block=1, decode_ms=1.0),
    ]

    (pairs,) = pair(campaign(trials), SPEC)

    assert len(pairs.trials) == 1
    assert pairs.speedup == pytest.approx(2.0)


def test_a_prompt_that_only_one_arm_finished_is_not_compared() -> None:
    trials = [trial("baseline"), failed("spec"), trial("spec", "code-2")]

    assert pair(campaign(trials, prompts=("code-1", "code-2")), SPEC) == ()


def test_an_output_of_one_token_has_no_pair() -> None:
    trials = [trial("baseline"), trial("spec", output_tokens=1, decode_ms=0.0)]

    assert pair(campaign(trials), SPEC) == ()


def test_two_clocks_are_never_compared_with_each_other() -> None:
    by_rounds = trial("spec", decode_ms=100.0, drafted_histogram=(10,), round_ms_median=(5.0,))

    (pairs,) = pair(campaign([trial("baseline", decode_ms=100.0), by_rounds]), SPEC)

    assert pairs.speedup == pytest.approx(1.0)


def test_the_interval_of_a_median_lies_between_order_statistics() -> None:
    # Of 16: (16 - 1.96 x 4) / 2 = 4.08, so the values with four beyond them: 4 and 11.
    assert median_half_width([float(value) for value in range(16)]) == 3.5
    # Of three, none can be left out.
    assert median_half_width([1.0, 9.0, 2.0]) == 4.0
