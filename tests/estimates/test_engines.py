"""Is one engine's plain decoding compared with another's, prompt by prompt and block by block?"""

import math

import pytest

from estimates.ratios import baseline_ratio
from tests.estimates.campaigns import campaign, trial

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
# Twice as fast on one prompt, eight times on the other: four times on average.
SECOND = campaign(
    [
        trial("baseline", prompt, block=block, decode_ms=ms * (1 + block))
        for prompt, ms in zip(PROMPTS, (50.0, 25.0), strict=True)
        for block in (0, 1)
    ],
    prompts=PROMPTS,
)


def test_the_ratio_is_the_geometric_mean_over_prompts_of_pairs_of_one_block() -> None:
    found = baseline_ratio(FIRST, SECOND)

    assert found is not None
    assert found.ratio == pytest.approx(4.0)
    assert found.prompts == 2
    # Student's t with one degree of freedom: 12.706 times ln 2, around ln 4.
    assert found.interval is not None
    assert found.interval.high == pytest.approx(4 * math.exp(12.7062 * math.log(2)), rel=1e-3)


def test_without_a_prompt_of_both_there_is_no_ratio() -> None:
    other = campaign([trial("baseline", "chat-1")], prompts=("chat-1",))

    assert baseline_ratio(FIRST, other) is None
