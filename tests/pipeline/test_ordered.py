"""Is a middle without one value the one that is found by leaving it out?"""

import random
from statistics import median

import pytest

from pipeline.collection.plausibility.peers import Without, middle, middle_distance, without


def test_nothing_but_the_value_is_left_out() -> None:
    rest = without([1.0, 2.0, 2.0, 5.0], 2.0)

    assert list(rest) == [1.0, 2.0, 5.0]
    assert list(rest[1:]) == [2.0, 5.0]
    assert rest[-1] == 5.0
    with pytest.raises(IndexError):
        rest[3]


def test_the_middle_and_the_distances_from_it_by_hand() -> None:
    # Of 1, 2, 4, 10 the median is 3; the distances 2, 1, 1, 7 have the median 1.5.
    assert middle([1, 2, 4, 10]) == 3
    assert middle_distance([1, 2, 4, 10], 3) == 1.5
    # From 20, outside of all: 19, 18, 16, 10.
    assert middle_distance([1, 2, 4, 10], 20) == 17


def test_each_answer_is_that_of_a_walk_over_all_values() -> None:
    rng = random.Random(5)  # noqa: S311 - made-up data
    for count in range(2, 40):
        values = sorted(round(rng.gauss(0, 3), 1) for _ in range(count))
        for left_out in range(count):
            rest = values[:left_out] + values[left_out + 1 :]
            seen = Without(values, left_out)
            center = middle(seen)

            assert center == median(rest)
            expected = median(abs(each - center) for each in rest)
            assert middle_distance(seen, center) == pytest.approx(expected)
