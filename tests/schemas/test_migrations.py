"""Files of version 1 are judged by their own schema and read as files of version 2."""

from pathlib import Path
from typing import Any

import pytest

from schemas import strict
from schemas.codec import canonical_bytes
from schemas.contract import read
from schemas.migrations import forms, migrated
from schemas.submission import Submission
from schemas.validator import (
    SUBMISSION_SCHEMA,
    SUBMISSION_V1,
    schema,
)
from schemas.vocabulary.axes import AXES

DATA = Path(__file__).parents[1] / "data"
VALID = sorted((DATA / "valid").glob("*.json"))
# Written by released programs before there was a version 2; never written again.
OLD = sorted((DATA / "version_1").glob("*.json"))


def document(path: Path) -> dict[str, Any]:
    loaded = strict.load(path.read_bytes())
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize(
    "strange", [None, [], "1", {}, {"version": True}, {"version": [1]}, {"version": 0}]
)
def test_a_value_that_is_not_a_document_is_left_to_the_schema(strange: Any) -> None:  # noqa: ANN401 - any JSON
    assert migrated(strange) is strange


def test_an_unknown_version_is_refused_by_name() -> None:
    found = read(canonical_bytes(document(VALID[0]) | {"version": 3}))

    assert isinstance(found, tuple)
    assert any(each.path == "$.version" for each in found)


def test_version_2_adds_these_fields_and_the_axes() -> None:
    settings = schema(SUBMISSION_V1)["$defs"]["settings"]["properties"]
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
        ("design", "repeat_beyond"),
        ("machine", "power_mode"),
        ("suite", "language"),
        ("snapshot", "busy_fraction"),
        ("snapshot", "load_15min"),
        ("snapshot", "cpu_speed_limit"),
        ("snapshot", "steady"),
        ("trial", "text_sha256"),
        ("trial", "equal_words"),
        ("trial", "answer"),
        ("trial", "energy_j"),
        ("trial", "grain_ms"),
        ("trial", "one_token_ms"),
        ("trial", "reasoning_tokens"),
        ("method_draft_model", "controller"),
        ("method_head", "controller"),
        ("method_head", "nodes"),
        ("method_head", "nodes"),
        ("method_ngram", "controller"),
        ("method_other", "adaptive"),
        ("method_other", "chain"),
        ("method_other", "controller"),
        *(("settings", axis) for axis in AXES if axis not in settings),
    }


def test_a_file_of_version_1_is_read_as_one_of_version_2_that_states_no_new_setting() -> None:
    for path in OLD:
        data = path.read_bytes()
        submission = read(data)

        assert isinstance(submission, Submission)
        assert submission.version == 2
        assert submission.settings.context_depth_tokens is None
        assert data in forms(submission)


def test_a_file_of_version_1_cannot_have_a_setting_of_version_2() -> None:
    old = document(OLD[0])
    old["settings"]["temperature"] = 0.8

    found = read(canonical_bytes(old))

    assert isinstance(found, tuple)
    assert [(each.path, "temperature" in each.message) for each in found] == [("$.settings", True)]
