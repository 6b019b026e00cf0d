"""How sure is a mean of log ratios?"""

import math
from dataclasses import replace

import pytest
import scipy

from estimates.intervals import (
    bootstrap_interval,
    equal_weight_mean,
    interval_over_tasks,
    t_interval,
)
from estimates.pairing import pair
from tests.estimates.campaigns import SPEC, campaign, table


def test_the_t_interval_of_three_log_ratios() -> None:
    # Mean 2, standard deviation 1, standard error 1/sqrt 3, t(0.975, 2) = 4.302653.
    interval = t_interval([1.0, 2.0, 3.0])

    assert interval is not None
    assert math.log(interval.low) == pytest.approx(2 - 4.302653 / math.sqrt(3), abs=1e-6)
    assert math.log(interval.high) == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-6)


def test_one_value_has_no_interval() -> None:
    assert t_interval([1.0]) is None
    assert t_interval([]) is None


def test_a_task_with_many_prompts_weighs_no_more_than_one_with_few() -> None:
    assert equal_weight_mean([[1.0, 1.0, 1.0, 1.0], [3.0]]) == pytest.approx(2.0)


def test_the_interval_over_tasks_carries_the_spread_between_them() -> None:
    # The means of the tasks are 1 and 2: half of their distance is the standard error.
    interval = interval_over_tasks([[0.0, 2.0], [1.0, 1.0, 4.0]])

    assert interval is not None
    reach = float(scipy.stats.t.ppf(0.975, 1)) * 0.5
    assert math.log(interval.low) == pytest.approx(1.5 - reach)
    assert math.log(interval.high) == pytest.approx(1.5 + reach)


def test_a_single_task_has_the_interval_of_its_prompts() -> None:
    assert interval_over_tasks([[0.0, 2.0, 3.0]]) == t_interval([0.0, 2.0, 3.0])


def test_with_one_prompt_in_a_task_its_value_is_the_mean() -> None:
    assert interval_over_tasks([[0.0, 2.0], [2.0], [3.0]]) == t_interval([1.0, 2.0, 3.0])


def test_the_bootstrap_lies_around_the_mean_and_within_the_prompts() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (100.0, 40.0), "code-3": (100.0, 30.0)}
    group = pair(campaign(table(rows), prompts=tuple(rows)), SPEC)

    interval = bootstrap_interval([group])

    assert interval is not None
    # Speedups 2, 2.5 and 3.33: all three draws give the slowest once in 27 resamples.
    assert interval.low == pytest.approx(2.0)
    assert interval.high == pytest.approx(10 / 3)


def test_the_bootstrap_sees_noise_between_blocks() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (100.0, 50.0)}
    quiet = table(rows, blocks=2)
    noisy = [
        each if each.block == 0 or each.arm == "baseline" else replace(each, decode_ms=80.0)
        for each in quiet
    ]

    still = bootstrap_interval([pair(campaign(quiet, prompts=tuple(rows)), SPEC)])
    moved = bootstrap_interval([pair(campaign(noisy, prompts=tuple(rows)), SPEC)])

    assert still is not None
    assert moved is not None
    assert (still.low, still.high) == (pytest.approx(2.0), pytest.approx(2.0))
    assert (moved.low, moved.high) == (pytest.approx(1.25), pytest.approx(2.0))


def test_the_bootstrap_gives_the_same_figures_again() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (100.0, 45.0)}
    group = pair(campaign(table(rows, blocks=3), prompts=tuple(rows)), SPEC)

    assert bootstrap_interval([group]) == bootstrap_interval([group])


def test_a_single_prompt_cannot_be_resampled() -> None:
    group = pair(campaign(table({"code-1": (100.0, 50.0)})), SPEC)

    assert bootstrap_interval([group]) is None
    assert bootstrap_interval([]) is None
