"""Would a second version of the format come in without harm? A dry run with a made-up one.

The made-up version 2 calls `contributor` `handle` and counts memory in KiB. It exists in this file
only: no released program knows it.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from schemas import strict
from schemas import validator as validators
from schemas.contract import read
from schemas.migrations import STEPS, Step, migrated
from schemas.validator import SUBMISSION_SCHEMA, findings_of, schema, schema_findings

VALID = sorted((Path(__file__).parents[1] / "data" / "valid").glob("*.json"))
KIB_PER_MIB = 1024


def to_version_2(old: dict[str, Any]) -> dict[str, Any]:
    machine = {key: value for key, value in old["machine"].items() if key != "ram_mib"}
    new = {key: value for key, value in old.items() if key != "contributor"}
    if "contributor" in old:
        new["handle"] = old["contributor"]
    return {
        **new,
        "version": 2,
        "machine": {**machine, "ram_kib": old["machine"]["ram_mib"] * KIB_PER_MIB},
    }


def back_to_version_1(new: dict[str, Any]) -> dict[str, Any]:
    """Only for the proof that the step loses nothing."""
    machine = {key: value for key, value in new["machine"].items() if key != "ram_kib"}
    old = {key: value for key, value in new.items() if key != "handle"}
    if "handle" in new:
        old["contributor"] = new["handle"]
    return {
        **old,
        "version": 1,
        "machine": {**machine, "ram_mib": new["machine"]["ram_kib"] // KIB_PER_MIB},
    }


def schema_2() -> dict[str, Any]:
    made = copy.deepcopy(schema(SUBMISSION_SCHEMA))
    fields = made["properties"]
    fields["version"]["const"] = 2
    fields["handle"] = fields.pop("contributor")
    machine = made["$defs"]["machine"]
    machine["properties"]["ram_kib"] = {"type": "integer", "minimum": 0, "maximum": 2**40}
    del machine["properties"]["ram_mib"]
    measured = made["allOf"][0]["then"]["properties"]["machine"]
    measured["required"] = ["os", "ram_kib"]
    return made


STEP = Step(findings=lambda old: schema_findings(old, SUBMISSION_SCHEMA), migrate=to_version_2)


@pytest.fixture(scope="module")
def validator() -> Any:  # noqa: ANN401 - a validator of jsonschema
    return validators.validator(schema_2())


def document(path: Path) -> dict[str, Any]:
    loaded = strict.load(path.read_bytes())
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_every_valid_file_becomes_a_valid_one_of_the_new_version(
    path: Path,
    validator: Any,  # noqa: ANN401 - a validator of jsonschema
) -> None:
    old = document(path)
    before = copy.deepcopy(old)

    new = migrated(old, {1: STEP})

    assert isinstance(new, dict)
    assert [each for error in validator.iter_errors(new) for each in findings_of(error)] == []
    assert old == before
    assert back_to_version_1(new) == old


def test_a_file_of_the_new_version_is_left_as_it_is() -> None:
    new = to_version_2(document(VALID[0]))

    assert migrated(new, {1: STEP}) is new


def test_an_old_file_is_judged_by_the_schema_of_its_own_version() -> None:
    old = document(VALID[0])
    del old["machine"]["ram_mib"]

    found = migrated(old, {1: STEP})

    assert isinstance(found, tuple)
    assert [(each.path, "ram_mib" in each.message) for each in found] == [("$.machine", True)]


def test_steps_follow_one_another() -> None:
    def third(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "version": 3}

    new = migrated(document(VALID[0]), {1: STEP, 2: Step(findings=lambda _: (), migrate=third)})

    assert isinstance(new, dict)
    assert (new["version"], "ram_kib" in new["machine"]) == (3, True)


def test_a_step_that_goes_nowhere_ends() -> None:
    still = Step(findings=lambda _: (), migrate=dict)

    assert migrated({"version": 1}, {1: still}) == {"version": 1}


@pytest.mark.parametrize("strange", [None, [], "1", {}, {"version": True}, {"version": [1]}])
def test_what_is_no_document_is_left_for_the_schema(strange: Any) -> None:  # noqa: ANN401 - any JSON
    assert migrated(strange, {1: STEP}) is strange


def test_today_there_is_one_version_and_a_later_one_is_refused_by_name() -> None:
    later = json.dumps(to_version_2(document(VALID[0]))).encode()

    found = read(later)

    assert STEPS == {}
    assert isinstance(found, tuple)
    assert any(each.path == "$.version" for each in found)
