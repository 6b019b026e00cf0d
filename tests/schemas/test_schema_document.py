"""Is the schema of a submission closed, bounded and documented at every place?"""

import re
from typing import Any

from jsonschema import Draft202012Validator

from schemas.validator import SUBMISSION_SCHEMA, schema, strict_validator
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


def test_every_object_is_closed() -> None:
    nodes = {name: node for name, node in OBJECTS.items() if name != "method"}
    nodes |= {
        f"method {number}": resolved(branch["then"], ROOT)
        for number, branch in enumerate(OBJECTS["method"]["allOf"])
    }

    assert [n for n, node in nodes.items() if node["additionalProperties"] is not False] == []


def test_every_required_field_is_described() -> None:
    missing = {
        name: set(node.get("required", [])) - node["properties"].keys()
        for name, node in OBJECTS.items()
    }

    assert {name: fields for name, fields in missing.items() if fields} == {}


def test_every_field_says_what_it_is_in_a_sentence() -> None:
    described = {name: node.get("description", "") for name, node in FIELDS.items()}

    assert [n for n, text in described.items() if not re.match(r"[A-Z].{3,}", text)] == []
    assert [n for n, text in described.items() if not text.endswith(".")] == []


def test_every_field_shows_examples_that_it_accepts() -> None:
    shown = {name: node.get("examples", []) for name, node in FIELDS.items()}
    refused = {
        name: [error for example in shown[name] for error in _errors(node, example)]
        for name, node in FIELDS.items()
    }

    assert [n for n, node in FIELDS.items() if not (shown[n] or _composite(node))] == []
    assert {name: errors for name, errors in refused.items() if errors} == {}


def test_every_number_has_bounds() -> None:
    names = _names("integer", "number")

    assert len(names) > 100
    assert [n for n in names if not VALUES[n]["minimum"] < VALUES[n]["maximum"]] == []


def test_every_text_has_a_length_and_an_anchored_pattern() -> None:
    names = _names("string")
    patterns = {name: VALUES[name]["pattern"] for name in names}

    assert len(names) > 60
    assert [n for n in names if VALUES[n]["maxLength"] > 1000] == []
    assert [n for n, p in patterns.items() if not (p.startswith("^") and p.endswith("$"))] == []


def test_every_list_has_a_maximum() -> None:
    names = _names("array")

    assert names
    assert [n for n in names if VALUES[n]["maxItems"] > 4096 or "items" not in VALUES[n]] == []


def test_every_value_has_a_type_or_a_closed_set() -> None:
    assert len(VALUES) > 200
    assert [n for n, node in VALUES.items() if not node.keys() & {"type", "enum", "const"}] == []


def _composite(node: Node) -> bool:
    """Objects, and lists of objects, are shown by the examples of their fields."""
    if node.get("type") == "array":
        return _composite(resolved(node["items"], ROOT))
    return bool(node.get("type") == "object")


def _errors(node: Node, example: Any) -> list[str]:  # noqa: ANN401 - any JSON value
    rooted = {**node, "$defs": ROOT["$defs"]}
    return [error.message for error in strict_validator(rooted).iter_errors(example)]
