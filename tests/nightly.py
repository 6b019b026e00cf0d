"""Choose the cases of a long list that run with every change; the others run every night."""

from collections.abc import Iterable
from math import ceil
from typing import Any

import pytest


def few(cases: Iterable[Any], most: int) -> list[Any]:
    """Mark the cases of a parametrized test as `nightly`, except at most `most`, evenly spaced.

    A case with several arguments is a `pytest.param`.
    """
    listed = list(cases)
    step = ceil(len(listed) / most)
    return [
        case if at % step == 0 else _at_night(case)  # keeps the first case
        for at, case in enumerate(listed)
    ]


def _at_night(case: Any) -> Any:  # noqa: ANN401 - any argument of a test
    known = case if hasattr(case, "marks") else pytest.param(case)
    return known._replace(marks=(*known.marks, pytest.mark.nightly))
