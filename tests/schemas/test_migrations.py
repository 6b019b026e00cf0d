"""Version 1 of the format comes in without harm; a dry run with a made-up version 3 does, too.

The made-up version calls `contributor` `handle` and counts memory in KiB. It exists in this file
only: no released program knows it.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from schemas import authority, strict
from schemas.authority import findings_of, schema_findings
from schemas.codec import canonical_bytes
from schemas.contract import read, read_quickly, read_thoroughly
from schemas.migrations import Step, forms, migrated
from schemas.submission import Submission
from schemas.validator import (
    SUBMISSION_SCHEMA,
    SUBMISSION_V1,
    schema,
)

DATA = Path(__file__).parents[1] / "data"
VALID = sorted((DATA / "valid").glob("*.json"))
# Written by released programs before there was a version 2; never written again.
OLD = sorted((DATA / "version_1").glob("*.json"))
KIB_PER_MIB = 1024


def to_version_3(old: dict[str, Any]) -> dict[str, Any]:
    machine = {key: value for key, value in old["machine"].items() if key != "ram_mib"}
    new = {key: value for key, value in old.items() if key != "contributor"}
    if "contributor" in old:
        new["handle"] = old["contributor"]
    return {
        **new,
        "version": 3,
        "machine": {**machine, "ram_kib": old["machine"]["ram_mib"] * KIB_PER_MIB},
    }


def back_to_version_2(new: dict[str, Any]) -> dict[str, Any]:
    """Only for the proof that the step loses nothing."""
    machine = {key: value for key, value in new["machine"].items() if key != "ram_kib"}
    old = {key: value for key, value in new.items() if key != "handle"}
    if "handle" in new:
        old["contributor"] = new["handle"]
    return {
        **old,
        "version": 2,
        "machine": {**machine, "ram_mib": new["machine"]["ram_kib"] // KIB_PER_MIB},
    }


def schema_3() -> dict[str, Any]:
    made = copy.deepcopy(schema(SUBMISSION_SCHEMA))
    fields = made["properties"]
    fields["version"]["const"] = 3
    fields["handle"] = fields.pop("contributor")
    machine = made["$defs"]["machine"]
    machine["properties"]["ram_kib"] = {"type": "integer", "minimum": 0, "maximum": 2**40}
    del machine["properties"]["ram_mib"]
    measured = made["allOf"][0]["then"]["properties"]["machine"]
    measured["required"] = ["os", "ram_kib"]
    return made


STEP = Step(
    findings=lambda old: schema_findings(old, SUBMISSION_SCHEMA),
    migrate=to_version_3,
    back=back_to_version_2,
)


@pytest.fixture(scope="module")
def validator() -> Any:  # noqa: ANN401 - a validator of jsonschema
    return authority.validator(schema_3())


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

    new = migrated(old, {2: STEP})

    assert isinstance(new, dict)
    assert [each for error in validator.iter_errors(new) for each in findings_of(error)] == []
    assert old == before
    assert back_to_version_2(new) == old


def test_a_file_of_the_new_version_is_left_as_it_is() -> None:
    new = to_version_3(document(VALID[0]))

    assert migrated(new, {2: STEP}) is new


def test_an_old_file_is_judged_by_the_schema_of_its_own_version() -> None:
    old = document(VALID[0])
    del old["machine"]["ram_mib"]

    found = migrated(old, {2: STEP})

    assert isinstance(found, tuple)
    assert [(each.path, "ram_mib" in each.message) for each in found] == [("$.machine", True)]


def test_steps_follow_one_another() -> None:
    def fourth(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "version": 4}

    new = migrated(
        document(VALID[0]), {2: STEP, 3: Step(findings=lambda _: (), migrate=fourth, back=dict)}
    )

    assert isinstance(new, dict)
    assert (new["version"], "ram_kib" in new["machine"]) == (4, True)


def test_a_step_that_goes_nowhere_ends() -> None:
    still = Step(findings=lambda _: (), migrate=dict, back=dict)

    assert migrated({"version": 1}, {1: still}) == {"version": 1}


@pytest.mark.parametrize("strange", [None, [], "1", {}, {"version": True}, {"version": [1]}])
def test_what_is_no_document_is_left_for_the_schema(strange: Any) -> None:  # noqa: ANN401 - any JSON
    assert migrated(strange, {2: STEP}) is strange


def test_a_version_that_nobody_knows_is_refused_by_name() -> None:
    found = read(json.dumps(to_version_3(document(VALID[0]))).encode())

    assert isinstance(found, tuple)
    assert any(each.path == "$.version" for each in found)


def test_version_2_adds_these_fields_and_no_other() -> None:
    added = {
        (name, field)
        for name, node in schema(SUBMISSION_SCHEMA)["$defs"].items()
        for field in node.get("properties", {}).keys()
        - schema(SUBMISSION_V1)["$defs"][name].get("properties", {}).keys()
    }

    assert (
        schema(SUBMISSION_V1)["properties"].keys() == schema(SUBMISSION_SCHEMA)["properties"].keys()
    )
    assert added == {
        ("snapshot", "busy_fraction"),
        ("method_draft_model", "controller"),
        ("method_head", "controller"),
        ("method_ngram", "controller"),
        ("method_other", "adaptive"),
        ("method_other", "chain"),
        ("method_other", "controller"),
        ("settings", "context_depth_tokens"),
        ("settings", "cpu_expert_layers"),
        ("settings", "sampling_seed"),
        ("settings", "server_arguments"),
        ("settings", "split_mode"),
        ("settings", "temperature"),
    }


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_file_of_version_1_is_read_as_one_of_version_2_that_states_no_new_setting(
    path: Path,
) -> None:
    data = path.read_bytes()
    submission = read(data)

    assert isinstance(submission, Submission)
    assert submission.version == 2
    assert submission.settings.context_depth_tokens is None
    assert read_quickly(data) == read_thoroughly(data) == submission
    assert data in forms(submission)


def test_a_file_of_version_1_cannot_have_a_setting_of_version_2() -> None:
    old = document(OLD[0])
    old["settings"]["temperature"] = 0.8

    found = read(canonical_bytes(old))

    assert isinstance(found, tuple)
    assert [(each.path, "temperature" in each.message) for each in found] == [("$.settings", True)]
