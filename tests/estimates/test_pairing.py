"""Which trials are compared with which?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from estimates.pairing import median_half_width, pair
from tests.estimates.campaigns import SPEC, campaign, failed, trial

if TYPE_CHECKING:
    from estimates.pairing import PromptPairs


def blocks(baseline: tuple[float, ...], spec: tuple[float, ...]) -> PromptPairs:
    """One prompt; entry b is the decode time of ten tokens in block b."""
    base = [trial("baseline", block=b, decode_ms=ms) for b, ms in enumerate(baseline)]
    own = [trial("spec", block=b, decode_ms=ms) for b, ms in enumerate(spec)]
    (pairs,) = pair(campaign([*base, *own]), SPEC)
    return pairs


def test_the_speedup_is_the_median_of_the_ratios_within_blocks() -> None:
    # Ratios 2, 4 and 3. The ratio of the medians, 200 / 50 = 4, takes two different blocks.
    pairs = blocks((100.0, 200.0, 300.0), (50.0, 50.0, 100.0))

    assert pairs.speedup == pytest.approx(3.0)
    assert math.exp(pairs.log_ratio) == pytest.approx(3.0)


def test_with_two_blocks_it_is_their_geometric_mean() -> None:
    # Ratios 2 and 8.
    assert blocks((100.0, 400.0), (50.0, 50.0)).speedup == pytest.approx(4.0)


def test_a_machine_that_halves_its_speed_between_blocks_changes_nothing() -> None:
    pairs = blocks((100.0, 200.0, 400.0), (50.0, 100.0, 200.0))

    assert pairs.block_log_ratios == pytest.approx([math.log(2)] * 3)
    assert pairs.speedup == pytest.approx(2.0)


def test_one_disturbed_block_of_three_changes_nothing() -> None:
    assert blocks((100.0, 100.0, 100.0), (50.0, 900.0, 50.0)).speedup == pytest.approx(2.0)


def test_rates_are_medians_over_the_blocks_of_each_arm_by_itself() -> None:
    pairs = blocks((300.0, 100.0, 200.0), (50.0, 900.0, 100.0))

    assert pairs.baseline_ms == pytest.approx(20.0)
    assert pairs.arm_ms == pytest.approx(10.0)


def test_a_block_without_the_baseline_is_counted_out() -> None:
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
