"""Every hostile document is refused for the intended reason, at the intended place."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from schemas import contract
from tools import examples

DATA = Path(__file__).parents[1] / "data"
CASES = tomllib.loads((DATA / "hostile_documents.toml").read_text("utf-8"))["case"]


def changed(case: dict[str, Any]) -> bytes:
    document = examples.small()
    examples.set_at(document, case["place"], case["value"])
    return json.dumps(document).encode()


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{c['place']}" for n, c in enumerate(CASES)])
def test_each_hostile_document_breaks_the_intended_rule(case: dict[str, Any]) -> None:
    found = contract.findings(changed(case))

    assert (case["rule"], case["at"]) in {(finding.rule, finding.path) for finding in found}
    assert all(finding.line().isprintable() for finding in found)


def test_no_case_is_repeated() -> None:
    assert len(set(map(changed, CASES))) == len(CASES)
