"""The contract finds and explains every mistake, and never raises."""

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from schemas import contract, validator
from schemas.finding import MAX_FINDINGS
from schemas.submission import Submission
from tools import examples
from tools.examples import small

Document = dict[str, Any]


SMALL = small()


def test_a_valid_file_becomes_a_submission() -> None:
    read = contract.read(_bytes(SMALL))

    assert isinstance(read, Submission)
    assert read.arms[1].method.type == "prompt-lookup"


MESSAGES = tomllib.loads(Path("tests/data/messages.toml").read_text("utf-8"))["message"]


@pytest.mark.parametrize("row", MESSAGES, ids=lambda row: row["says"])
def test_a_message_names_place_mistake_and_remedy(row: dict[str, Any]) -> None:
    document = small()
    if "place" in row:
        examples.set_at(document, row["place"], row["value"])
    if "remove" in row:
        examples.remove(row["remove"])(document)

    lines = [each.line() for each in contract.findings(_bytes(document), file="x.json")]

    assert lines == [f"x.json: {row['says']}"]


def test_all_mistakes_are_reported_at_once() -> None:
    document = small()
    document["trials"][0]["rounds"] = -1
    document["trials"][2]["speedup"] = 3
    document["machine"].pop("os")

    places = [finding.path for finding in contract.findings(_bytes(document))]

    assert places == ["$.machine", "$.trials[0].rounds", "$.trials[2]"]


def test_a_hostile_number_of_mistakes_is_cut() -> None:
    document = small() | {f"field_{n}": n for n in range(MAX_FINDINGS + 100)}

    found = contract.findings(_bytes(document))

    assert len(found) == MAX_FINDINGS + 1
    assert found[-1].rule == "many-findings"


@pytest.mark.parametrize("data", [b"null", b"[]", b"1", b'"x"', b"true", b"{}"])
def test_a_document_that_is_not_a_submission_has_findings(data: bytes) -> None:
    assert contract.findings(data)


def test_a_published_file_is_judged_by_its_own_schema() -> None:
    found = contract.document_findings(_bytes(SMALL), validator.PUBLISHED_SCHEMA)

    assert found
    assert all(finding.rule.startswith("schema-") for finding in found)


def test_a_published_file_is_loaded_strictly() -> None:
    (found,) = contract.document_findings(b"[NaN]", validator.PUBLISHED_SCHEMA)

    assert found.rule == "json"


def test_a_pattern_ends_where_the_text_ends() -> None:
    # Python's `$` would also match before a last newline; the loader refuses it earlier as well.
    document = small() | {"contributor": "ada\n"}

    found = validator.schema_findings(document, validator.SUBMISSION_SCHEMA)

    assert [finding.rule for finding in found] == ["schema-pattern"]


def _bytes(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=True).encode()


@pytest.mark.parametrize(
    "place",
    [("machine", "os"), ("machine", "ram_mib"), ("machine", "cpu", "name"), ("engine", "version")],
)
def test_measured_campaigns_need_facts_that_imported_ones_may_lack(
    place: tuple[str, ...],
) -> None:
    document = copy.deepcopy(SMALL)
    *parents, last = place
    inner = document
    for step in parents:
        inner = inner[step]
    del inner[last]
    imported = {**document, "tier": "imported", "origin": {"format": "x", "sha256": "0" * 64}}
    imported["engine"] = {**document["engine"], "runner": "imported"}

    found = contract.findings(_bytes(document))

    assert contract.findings(_bytes(imported)) == ()
    assert [(each.path, each.rule) for each in found] == [
        (".".join(("$", *place[:-1])), "schema-required")
    ]
