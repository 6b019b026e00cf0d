"""The lower bound of the best of several figures."""

import pytest

from estimates.intervals import choice_factor, corrected, corrected_estimate
from estimates.model import Estimate, Interval
from schemas.submission import Task


def test_a_figure_that_was_not_chosen_keeps_its_interval() -> None:
    interval = Interval(low=1.1, high=1.3)

    assert corrected(interval, 1.2, 1) == interval


def test_the_bound_of_the_best_of_many_is_further_away() -> None:
    # Student's t with 7 degrees of freedom: 2.36462 at 97.5 %. Of two each may err in 1 %, 2.99795;
    # of twenty in 0.1 %, 4.78529.
    assert choice_factor(2) == pytest.approx(2.99795 / 2.36462, abs=1e-5)
    assert choice_factor(20) == pytest.approx(4.78529 / 2.36462, abs=1e-5)


def test_only_the_lower_bound_moves_and_by_as_much_on_logarithms() -> None:
    # 1.44 lies 1.2 times above its lower bound; of twenty by 1.2 ^ 2.02371 = 1.44622 times.
    found = corrected(Interval(low=1.2, high=1.7), 1.44, 20)

    assert found.low == pytest.approx(1.44 / 1.44622, abs=1e-4)
    assert found.high == 1.7


def test_four_prompts_give_the_t_quantile_of_three_degrees_of_freedom() -> None:
    # Of two: t(0.99, 3) = 4.54070 over t(0.975, 3) = 3.18245; over all tasks with 7, as above.
    task = estimate(task="code", prompts=4)

    found = corrected_estimate(task, 2)

    assert found is not None
    assert found.low == pytest.approx(1.44 / 1.2 ** (4.54070 / 3.18245), abs=1e-5)


def test_a_figure_over_all_tasks_is_not_judged_by_the_prompts_of_one() -> None:
    found = corrected_estimate(estimate(task=None, prompts=4), 2)

    assert found is not None
    assert found.low == pytest.approx(1.44 / 1.2 ** (2.99795 / 2.36462), abs=1e-5)


def estimate(task: Task | None, prompts: int) -> Estimate:
    """1.44, and 1.2 times its lower bound."""
    return Estimate(
        arm="a", baseline="b", task=task, verdict="helps", prompts=prompts, trials=8,
        failed_trials=0, speedup=1.44, interval=Interval(low=1.2, high=1.7),
    )  # fmt: skip
