"""Is the schema of a submission closed, bounded and documented at every place?"""

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas import authority
from schemas.validator import SUBMISSION_SCHEMA, schema
from tests.schema_tree import Node, fields, objects, resolved, values

ROOT = schema(SUBMISSION_SCHEMA)
FIELDS = dict(fields(ROOT))
OBJECTS = dict(objects(ROOT))
VALUES = dict(values(ROOT))


def _names(*kinds: str) -> list[str]:
    closed = {"enum", "const"}
    return sorted(
        n for n, node in VALUES.items() if node.get("type") in kinds and not node.keys() & closed
    )


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(ROOT)


def test_the_walk_finds_what_a_reader_of_the_schema_finds() -> None:
    assert {"$", "trial", "gpu", "machine.cpu", "probes.drafting[]"} <= OBJECTS.keys()
    assert {"$.tier", "trial.decode_ms", "probes.verification.widths"} <= FIELDS.keys()
    assert "trial.accepted_histogram[]" in VALUES


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_an_object_is_closed(name: str) -> None:
    if name == "method":
        assert all(
            resolved(branch["then"], ROOT)["additionalProperties"] is False
            for branch in OBJECTS[name]["allOf"]
        )
    else:
        assert OBJECTS[name]["additionalProperties"] is False


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_a_required_field_is_described(name: str) -> None:
    node = OBJECTS[name]

    assert set(node.get("required", [])) <= node["properties"].keys()


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_a_field_says_what_it_is(name: str) -> None:
    description = FIELDS[name].get("description", "")

    assert re.match(r"[A-Z].{3,}", description), f"{name} has no description"
    assert description.endswith("."), f"the description of {name} does not end its sentence"


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_a_field_shows_examples_that_it_accepts(name: str) -> None:
    node = FIELDS[name]
    examples = node.get("examples", [])

    errors = [error for example in examples for error in _errors(node, example)]

    assert examples or _composite(node), f"{name} shows no example"
    assert errors == []


@pytest.mark.parametrize("name", _names("integer", "number"))
def test_a_number_has_bounds(name: str) -> None:
    node = VALUES[name]

    assert node["minimum"] < node["maximum"]


@pytest.mark.parametrize("name", _names("string"))
def test_a_text_has_a_length_and_an_anchored_pattern(name: str) -> None:
    node = VALUES[name]

    assert node["maxLength"] <= 1000
    assert node["pattern"].startswith("^")
    assert node["pattern"].endswith("$")


@pytest.mark.parametrize("name", _names("array"))
def test_a_list_has_a_maximum(name: str) -> None:
    node = VALUES[name]

    assert node["maxItems"] <= 4096
    assert "items" in node


@pytest.mark.parametrize("name", sorted(VALUES))
def test_a_value_has_a_type_or_a_closed_set(name: str) -> None:
    assert VALUES[name].keys() & {"type", "enum", "const"}


def _composite(node: Node) -> bool:
    """Objects, and lists of objects, are shown by the examples of their fields."""
    if node.get("type") == "array":
        return _composite(resolved(node["items"], ROOT))
    return bool(node.get("type") == "object")


def _errors(node: Node, example: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    rooted = {**node, "$defs": ROOT["$defs"]}
    return [error.message for error in authority.validator(rooted).iter_errors(example)]
