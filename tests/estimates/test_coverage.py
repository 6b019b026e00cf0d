"""Does the interval contain the truth as often as it claims, on a machine that drifts?"""

import math
import random
from dataclasses import replace

import pytest

from estimates.summary import summarize
from tests.estimates.campaigns import campaign, trial

CAMPAIGNS = 200
PROMPTS = tuple(f"code-{number}" for number in range(1, 7))
BLOCKS = 3
TRUTH = 1.5


def simulated(rng: random.Random) -> tuple[float, float, float]:
    """Speedup, low and high of one campaign: drift of 30 %, noise of 5 %, prompts that differ."""
    effects = {prompt: rng.gauss(0.0, 0.1) for prompt in PROMPTS}
    trials = []
    for block in range(BLOCKS):
        for prompt in PROMPTS:
            for arm in ("baseline", "spec") if block % 2 == 0 else ("spec", "baseline"):
                drift = 1 + 0.3 * len(trials) / (2 * BLOCKS * len(PROMPTS))
                ms = 100.0 * drift * math.exp(rng.gauss(0.0, 0.05))
                if arm == "spec":
                    ms /= TRUTH * math.exp(effects[prompt])
                trials.append(replace(trial(arm, prompt, block), decode_ms=ms))
    estimate = summarize(campaign(trials, prompts=PROMPTS)).estimates[0]
    assert estimate.speedup is not None
    assert estimate.interval is not None
    return estimate.speedup, estimate.interval.low, estimate.interval.high


def test_the_t_interval_contains_the_truth_in_93_of_100_campaigns() -> None:
    rng = random.Random(20261121)  # noqa: S311 - a simulation

    results = [simulated(rng) for _ in range(CAMPAIGNS)]

    covered = sum(1 for _, low, high in results if low <= TRUTH <= high)
    bias = math.exp(sum(math.log(found / TRUTH) for found, _, _ in results) / CAMPAIGNS)
    assert covered / CAMPAIGNS >= 0.93
    assert bias == pytest.approx(1.0, abs=0.01)
