"""Which trials are compared with which?"""

from __future__ import annotations

import pytest

from estimates.pairing import pair
from tests.estimates.campaigns import SPEC, campaign, failed, trial


def test_the_speedup_is_the_ratio_of_the_medians_over_blocks() -> None:
    base = [trial("baseline", block=b, decode_ms=ms) for b, ms in enumerate((300.0, 100.0, 200.0))]
    spec = [trial("spec", block=b, decode_ms=ms) for b, ms in enumerate((50.0, 900.0, 100.0))]

    (pairs,) = pair(campaign([*base, *spec]), SPEC)

    assert pairs.baseline_ms == pytest.approx(20.0)
    assert pairs.arm_ms == pytest.approx(10.0)
    assert pairs.speedup == pytest.approx(2.0)


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
