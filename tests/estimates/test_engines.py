"""Plain decoding of two engines is compared prompt by prompt and block by block."""

import math
from dataclasses import replace

import pytest

from estimates.ratios import baseline_ratio
from tests.estimates.campaigns import campaign, failed, trial

PROMPTS = ("code-1", "code-2")
# 100 and 200 ms for ten tokens in two blocks of a machine that slows down by half.
FIRST = campaign(
    [
        trial("baseline", prompt, block=block, decode_ms=ms * (1 + block))
        for prompt, ms in zip(PROMPTS, (100.0, 200.0), strict=True)
        for block in (0, 1)
    ],
    prompts=PROMPTS,
)
# Twice as fast on one prompt, eight times on the other. Both prompts in 75 ms, not 300: four times.
SECOND = campaign(
    [
        trial("baseline", prompt, block=block, decode_ms=ms * (1 + block))
        for prompt, ms in zip(PROMPTS, (50.0, 25.0), strict=True)
        for block in (0, 1)
    ],
    prompts=PROMPTS,
)


def test_the_ratio_is_that_of_the_times_for_both_prompts() -> None:
    found = baseline_ratio(FIRST, SECOND)

    assert found is not None
    ratio, interval, prompts = found
    assert ratio == pytest.approx(4.0)
    assert prompts == 2
    # Means over the blocks: 15 and 30 ms a token, and 7.5 and 3.75. d = (15 - 4 x 7.5) / 22.5 and
    # (30 - 4 x 3.75) / 22.5, so -2/3 and 2/3, a standard error of 2/3; t(0.975, 1) = 12.7062.
    assert interval is not None
    assert interval.high == pytest.approx(4 * math.exp(12.7062 * 2 / 3), rel=1e-4)


def test_without_a_common_prompt_there_is_no_ratio() -> None:
    other = campaign([trial("baseline", "chat-1")], prompts=("chat-1",))

    assert baseline_ratio(FIRST, other) is None


def test_without_a_prompt_that_both_finished_there_is_no_ratio() -> None:
    gone = replace(failed("baseline"), wall_ms=900.0)

    assert baseline_ratio(FIRST, campaign([gone], prompts=PROMPTS)) is None
