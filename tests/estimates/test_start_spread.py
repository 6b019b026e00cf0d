"""The estimated spread between starts agrees with the simulated one, within its interval."""

import math
import random
from dataclasses import replace

import pytest
from scipy.special import chdtri

from estimates.distributions import chi2_quantile
from estimates.repeatability import headline, start_spread
from schemas.submission import Submission, Trial
from schemas.vocabulary import say
from tests.samples import sample

PROMPTS, NOISE = 12, 0.02


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("probability", [0.025, 0.5, 0.975])
def test_the_quantiles_are_those_of_scipy(freedom: int, probability: float) -> None:
    assert chi2_quantile(freedom, probability) == pytest.approx(
        chdtri(freedom, 1 - probability), rel=1e-9
    )


def test_three_starts_without_noise_have_the_spread_of_their_ratios() -> None:
    starts = [-0.1, 0.0, 0.1]
    found = start_spread([[prompt + start for start in starts] for prompt in (0.2, 0.4, 0.5)])

    assert found is not None
    # The deviation of -0.1, 0 and 0.1 is 0.1; the quantiles of chi2(2) are 0.0506 and 7.378.
    assert found.starts == 3
    assert found.spread == pytest.approx(math.expm1(0.1))
    assert found.low == pytest.approx(math.expm1(math.sqrt(2 * 0.01 / 7.3778)), rel=1e-3)
    assert found.high == pytest.approx(math.expm1(math.sqrt(2 * 0.01 / 0.050636)), rel=1e-3)


def test_noise_of_single_answers_is_not_a_spread_of_starts() -> None:
    found = start_spread([[0.05, -0.05], [-0.05, 0.05]])

    assert found is not None
    assert (found.spread, found.low) == (0.0, 0.0)


def test_times_that_cannot_be_have_a_spread_that_can_be_written_down() -> None:
    found = start_spread([[0.0, 60.0], [0.0, 60.0]])

    assert found is not None
    assert found.high is not None
    assert found.high < 1e12


def test_one_prompt_or_one_start_shows_no_spread() -> None:
    assert start_spread([[0.1, 0.2, 0.3]]) is None
    assert start_spread([[0.1], [0.2]]) is None
    assert start_spread([]) is None


def campaign(rng: random.Random, drawn: float, blocks: int) -> list[list[float]]:
    """Log ratios of each prompt, with a random factor per start."""
    starts = [rng.gauss(0, drawn) for _ in range(blocks)]
    return [
        [base + start + rng.gauss(0, NOISE) for start in starts]
        for base in (rng.gauss(0.3, 0.3) for _ in range(PROMPTS))
    ]


@pytest.mark.parametrize("blocks", [3, 6])
@pytest.mark.parametrize("drawn", [0.0, 0.01, 0.05, 0.15])
def test_the_stated_spread_holds_the_drawn_one_in_nine_of_ten_runs(
    drawn: float, blocks: int
) -> None:
    rng = random.Random(55)  # noqa: S311 - simulated starts
    held = 0
    for _ in range(200):
        found = start_spread(campaign(rng, drawn, blocks))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= math.expm1(drawn) <= found.high

    assert held >= 180
    if drawn:  # and it is not an interval that holds everything
        assert found.high < 60 * math.expm1(drawn) + 0.2


def served(factors: list[float] | None) -> Submission:
    """A campaign through servers that restart in each block with a different speed."""
    result = sample(blocks=3)
    argv = None if factors is None else ("--port", "0")

    def slower(trial: Trial) -> Trial:
        speculates = trial.arm != result.arms[0].id
        factor = factors[trial.block] if factors and speculates else 1.0
        return replace(
            trial,
            decode_ms=(trial.decode_ms or 0) / factor,
            wall_ms=None if trial.wall_ms is None else trial.wall_ms / factor,
            round_ms_median=None,
        )

    return replace(
        result,
        design=replace(result.design, interleaved="block"),
        arms=tuple(replace(arm, argv=argv) for arm in result.arms),
        trials=tuple(map(slower, result.trials)),
    )


def test_a_campaign_names_the_differences_between_its_servers() -> None:
    (found, *_) = headline(served([1.0, 1.1, 1.21]))

    # ln 1, ln 1.1 and 2 ln 1.1 are as far apart as they deviate.
    assert found.starts.starts == 3
    assert found.starts.spread == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("submission", [served(None), sample(blocks=3)])
def test_a_running_server_and_a_single_process_count_as_one_start(submission: Submission) -> None:
    (found, *_) = headline(submission)

    assert found.starts.starts == 1
    assert found.starts.spread is None


def test_words_name_the_spread_or_the_one_start() -> None:
    assert say.start_spread(3, 0.02, 0.0, 0.124) == (
        "From one engine start to the next, the speedup varies by 2.0 % [0.0 %, 12.4 %] (3 starts)."
    )
    assert say.start_spread(2, 0.0, 0.0, 2.941) == (
        "From one engine start to the next, the speedup varies at most by 294.1 % (2 starts)."
    )
    assert say.start_spread(1, None, None, None) == (
        "One start: the variation between engine starts is unknown."
    )
