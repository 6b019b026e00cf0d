"""Is every hostile document refused for the reason that was meant, at the place that was meant?"""

import copy
import json
from typing import Any

import pytest

from schemas import contract
from tests.cases.document_cases import MARKUP, SCHEMA
from tools.examples import small

SMALL = small()
CASES = (*SCHEMA, *MARKUP)


def changed(place: str, value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    document = copy.deepcopy(SMALL)
    *steps, last = (int(step) if step.isdigit() else step for step in place.split("."))
    holder: Any = document
    for step in steps:
        holder = holder[step]
    holder[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("place", "value", "rule", "path"), CASES, ids=[f"{n}-{c[0]}" for n, c in enumerate(CASES)]
)
def test_it_is_refused_as_meant(place: str, value: object, rule: str, path: str) -> None:
    data = changed(place, value)

    found = contract.findings(data)

    assert (rule, path) in {(finding.rule, finding.path) for finding in found}
    assert all(finding.line().isprintable() for finding in found)


def test_no_case_stands_twice() -> None:
    assert len({changed(place, value) for place, value, *_ in CASES}) == len(CASES)
