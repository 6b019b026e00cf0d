"""The time ratio and its interval, with values worked out by hand."""

import math

import pytest
import scipy

from estimates.intervals import (
    mean_over_tasks,
    ratio_interval,
    reaching,
    spread_of_mean,
    t_interval,
    time_ratio,
)
from estimates.model import Interval

# 10 ms a token plain and 20 ms, two prompts of each task; means 10 and 20, 5 and 15.
TWO_TASKS = [[(10.0, 4.0), (10.0, 6.0)], [(20.0, 10.0), (20.0, 20.0)]]


def reach(interval: Interval | None, ratio: float) -> float:
    """The half-width as a logarithm, of an interval around its ratio."""
    assert interval is not None
    assert math.sqrt(interval.low * interval.high) == pytest.approx(ratio)
    return interval.log_half_width


def test_the_speedup_is_the_time_for_the_same_tokens() -> None:
    # (10 + 20) / (5 + 15). The geometric mean of 2.5, 1.67, 2 and 1 would be 1.70.
    assert time_ratio(TWO_TASKS) == pytest.approx(1.5)


def test_every_task_counts_once_however_many_prompts_it_has() -> None:
    assert mean_over_tasks([[1.0, 1.0, 1.0, 1.0], [3.0]]) == pytest.approx(2.0)
    # Means 10 and 30 ms plain, 10 and 10 ms with the arm.
    assert time_ratio([[(10.0, 10.0)] * 4, [(30.0, 10.0)]]) == pytest.approx(2.0)


def test_the_interval_comes_from_the_spread_within_the_tasks() -> None:
    # d = (x - 1.5 y) / 15: 4/15 and 1/15 in the first task, 5/15 and -10/15 in the second.
    # Variances 0.2^2 / 2 = 0.02 and 1^2 / 2 = 0.5; over 2 prompts and 2^2: 0.0025 and 0.0625.
    # f = 0.065^2 / (0.0025^2 / 3 + 0.0625^2 / 3) - 2 = 1.23962.
    quantile = float(scipy.stats.t.ppf(0.975, 3 * 0.004225 / 0.0039125 - 2))

    found = ratio_interval(TWO_TASKS)

    assert reach(found, 1.5) == pytest.approx(quantile * math.sqrt(0.065))


def test_tasks_that_differ_and_whose_prompts_agree_leave_no_doubt() -> None:
    assert reach(ratio_interval([[(10.0, 10.0)] * 2, [(10.0, 5.0)] * 2]), 4 / 3) == pytest.approx(
        0.0, abs=1e-12
    )


def test_a_single_task_has_students_t_over_its_prompts() -> None:
    # Means 10 and 5; d = (10 - 2 y) / 10 = 0.2, 0 and -0.2: s = 0.2; t(0.975, 2) = 4.302653.
    found = ratio_interval([[(10.0, 4.0), (10.0, 5.0), (10.0, 6.0)]])

    assert reach(found, 2.0) == pytest.approx(4.302653 * 0.2 / math.sqrt(3), rel=1e-6)


def test_tasks_of_one_prompt_show_the_spread_between_tasks() -> None:
    # Means 15 and 12.5, ratio 1.2; d = (10 - 6) / 15 and (20 - 24) / 15, so 4/15 and -4/15: their
    # mean has the standard error 4/15. One degree of freedom: t = 12.7062.
    found = ratio_interval([[(10.0, 5.0)], [(20.0, 20.0)]])

    assert reach(found, 1.2) == pytest.approx(12.7062 * 4 / 15, rel=1e-5)


def test_one_task_of_one_prompt_counts_together_with_the_smallest_other() -> None:
    # Ratio 2; d = 0 | 0.2, -0.2 | 0, 0, 0. The first three together: variance 0.04, for the two
    # tasks' means 0.04 x (1/1 + 1/2) = 0.06; the third adds nothing. Two degrees of freedom.
    found = ratio_interval([[(10.0, 5.0)], [(10.0, 4.0), (10.0, 6.0)], [(10.0, 5.0)] * 3])

    assert reach(found, 2.0) == pytest.approx(4.302653 * math.sqrt(0.06) / 3, rel=1e-6)


def test_a_task_whose_prompts_agree_adds_no_degrees_of_freedom() -> None:
    # Variances 1 / 2 and 0: the five prompts that agree know nothing about the first two.
    error, freedom = spread_of_mean([[0.0, 1.0], [3.0] * 5]) or (0.0, 0.0)

    assert error == pytest.approx(math.sqrt(0.5 / 2) / 2)
    assert freedom == pytest.approx(1.0)


def test_degrees_of_freedom_are_limited_to_the_sum_over_tasks() -> None:
    # Eight times the same variance v of two prompts: (8 v)^2 / (8 v^2 / 3) - 2 = 22, but 8 x 1.
    _, freedom = spread_of_mean([[0.0, 1.0]] * 8) or (0.0, 0.0)

    assert freedom == pytest.approx(8.0)


def test_one_prompt_in_all_has_no_interval() -> None:
    assert ratio_interval([[(10.0, 5.0)]]) is None


def test_the_t_interval_of_three_log_ratios() -> None:
    # Mean 2, standard deviation 1, standard error 1/sqrt 3, t(0.975, 2) = 4.302653.
    interval = t_interval([1.0, 2.0, 3.0])

    assert interval is not None
    assert math.log(interval.low) == pytest.approx(2 - 4.302653 / math.sqrt(3), abs=1e-6)
    assert math.log(interval.high) == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-6)
    assert t_interval([1.0]) is None


def test_an_interval_reaches_as_far_as_the_wall_clock() -> None:
    found = Interval(low=1.1, high=1.3)

    assert reaching(found, 1.05) == Interval(low=1.05, high=1.3)
    assert reaching(found, 1.4) == Interval(low=1.1, high=1.4)
    assert reaching(found, 1.2) == found
    assert reaching(None, 1.2) is None
