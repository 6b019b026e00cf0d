"""Does the loader read all that is JSON, refuse all that is not, and name its policy?"""

import json

import pytest

from schemas import contract, strict
from tests.cases.json_cases import ACCEPTED, POLICY, REFUSED


@pytest.mark.parametrize("data", ACCEPTED.values(), ids=ACCEPTED)
def test_it_reads_json(data: bytes) -> None:
    assert strict.load(data) == json.loads(data)


@pytest.mark.parametrize("data", REFUSED.values(), ids=map(ascii, REFUSED))
def test_it_refuses_what_is_no_json_with_one_line(data: bytes) -> None:
    found = contract.findings(data)

    assert [finding.rule for finding in found] in (["json"], ["encoding"])
    assert found[0].line().isascii()
    assert found[0].line().isprintable()


@pytest.mark.parametrize(("data", "rule"), POLICY.values(), ids=POLICY)
def test_it_refuses_by_policy(data: bytes, rule: str) -> None:
    assert {finding.rule for finding in contract.findings(data)} == {rule}


def test_a_parser_that_knows_no_policy_reads_what_the_policy_refuses() -> None:
    # Otherwise a case of the policy would be one of the grammar, and say nothing about the policy.
    nested = {name for name, (_, rule) in POLICY.items() if rule in ("depth", "size")}
    unread = {name for name, (data, _) in POLICY.items() if not _is_json(data)} - nested

    assert unread == {"a hundred thousand digits"}  # Python stops at 4300


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
