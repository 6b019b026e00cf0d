"""Our tests of significance agree with textbooks and with SciPy."""

import pytest
import scipy

from estimates.distributions import p_of_rank, spearman, t_quantile

RISING = (1.0, 2.0, 3.0, 4.0, 5.0)
WITH_TIES = (2.0, 2.0, 1.0, 7.0, 7.0)


def test_ranks_that_agree_but_for_one_swap_correlate_as_the_formula_says() -> None:
    # 1 - 6 * (1 + 1) / (5 * 24): two ranks differ by one.
    assert spearman(RISING, (10.0, 30.0, 20.0, 40.0, 50.0)) == pytest.approx(0.9)


def test_equal_values_share_their_rank() -> None:
    # Ranks 2.5 2.5 1 4.5 4.5 against 1 to 5: covariance 6, variances 10 and 9.
    assert spearman(RISING, WITH_TIES) == pytest.approx(6 / 90**0.5)
    assert spearman(RISING, WITH_TIES) == pytest.approx(
        scipy.stats.spearmanr(RISING, WITH_TIES).statistic
    )


@pytest.mark.parametrize(
    ("correlation", "independent"), [(0.9, 4), (-0.3, 20), (0.0, 9), (-0.99, 31)]
)
def test_the_chance_of_a_correlation_is_that_of_students_t(
    correlation: float, independent: int
) -> None:
    freedom = independent - 1
    statistic = abs(correlation) * (freedom / (1 - correlation**2)) ** 0.5

    found = p_of_rank(correlation, independent)

    assert found == pytest.approx(2 * scipy.stats.t.sf(statistic, freedom))


def test_a_perfect_correlation_has_no_probability_of_chance() -> None:
    assert p_of_rank(-1.0, 5) == 0.0


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7.5, 15, 31, 100, 1000, 20_000])
@pytest.mark.parametrize("probability", [0.025, 0.5, 0.6, 0.95, 0.975, 0.995, 0.9999, 1 - 1e-7])
def test_the_quantiles_of_students_t_are_scipys(freedom: float, probability: float) -> None:
    expected = float(scipy.special.stdtrit(freedom, probability))

    assert t_quantile(freedom, probability) == pytest.approx(expected, rel=1e-10, abs=1e-12)
