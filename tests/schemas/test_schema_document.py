"""The schemas of submissions and published files are closed, bounded and documented."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schemas.validator import PUBLISHED_SCHEMA, SUBMISSION_SCHEMA, schema, strict_validator
from tests.schema_tree import Node, fields, objects, resolved, values


@dataclass(frozen=True)
class Walked:
    """A schema with its objects, their fields and its single values."""

    root: Node
    objects: dict[str, Node]
    fields: dict[str, Node]
    values: dict[str, Node]

    def names(self, *kinds: str) -> list[str]:
        """The values of these types that are not a closed set."""
        closed = {"enum", "const"}
        named = self.values.items()
        return sorted(n for n, x in named if x.get("type") in kinds and not x.keys() & closed)


def walked(name: str) -> Walked:
    root = schema(name)
    return Walked(root, dict(objects(root)), dict(fields(root)), dict(values(root)))


SUBMISSION = walked(SUBMISSION_SCHEMA)
# Python's `$` also matches before a last newline; here no character at all may follow.
ANCHORED = re.compile(r"\^.*(\$|\(\?!\[\\s\\S\]\))")


@pytest.fixture(params=[SUBMISSION_SCHEMA, PUBLISHED_SCHEMA])
def found(request: pytest.FixtureRequest) -> Walked:
    return walked(request.param)


def test_the_schema_is_a_schema(found: Walked) -> None:
    Draft202012Validator.check_schema(found.root)


def test_the_walk_finds_what_a_reader_of_the_schema_finds() -> None:
    assert {"$", "trial", "gpu", "machine.cpu", "probes.drafting[]"} <= SUBMISSION.objects.keys()
    assert {"$.tier", "trial.decode_ms"} <= SUBMISSION.fields.keys()
    assert "trial.accepted_histogram[]" in SUBMISSION.values
    assert len(SUBMISSION.values) > 200
    assert len(SUBMISSION.names("integer", "number")) > 100
    assert len(SUBMISSION.names("string")) > 60


def test_every_object_is_closed(found: Walked) -> None:
    nodes = {name: node for name, node in found.objects.items() if name != "method"}
    nodes |= {
        f"method {number}": resolved(branch["then"], found.root)
        for number, branch in enumerate(found.objects.get("method", {}).get("allOf", ()))
    }

    assert [n for n, node in nodes.items() if node["additionalProperties"] is not False] == []


def test_every_required_field_is_described(found: Walked) -> None:
    missing = {
        name: set(node.get("required", [])) - node["properties"].keys()
        for name, node in found.objects.items()
    }

    assert {name: fields for name, fields in missing.items() if fields} == {}


def test_every_field_is_described_by_a_sentence(found: Walked) -> None:
    described = {name: node.get("description", "") for name, node in found.fields.items()}

    assert [n for n, text in described.items() if not re.match(r"[A-Z].{3,}", text)] == []
    assert [n for n, text in described.items() if not text.endswith(".")] == []


def test_every_field_shows_examples_that_it_accepts(found: Walked) -> None:
    shown = {name: node.get("examples", []) for name, node in found.fields.items()}
    refused = {
        name: [error for example in shown[name] for error in _errors(node, example, found.root)]
        for name, node in found.fields.items()
    }

    unseen = [n for n, node in found.fields.items() if not shown[n]]
    assert [n for n in unseen if not _composite(found.fields[n], found.root)] == []
    assert {name: errors for name, errors in refused.items() if errors} == {}


def test_every_number_has_bounds(found: Walked) -> None:
    numbers = {name: found.values[name] for name in found.names("integer", "number")}

    assert [n for n, node in numbers.items() if not node["minimum"] < node["maximum"]] == []


def test_every_text_has_a_length_and_an_anchored_pattern(found: Walked) -> None:
    names = found.names("string")
    patterns = {name: found.values[name]["pattern"] for name in names}

    assert [n for n in names if found.values[n]["maxLength"] > 1000] == []
    assert [n for n, pattern in patterns.items() if not ANCHORED.fullmatch(pattern)] == []


def test_every_list_has_a_maximum(found: Walked) -> None:
    lists = {name: found.values[name] for name in found.names("array")}

    assert lists
    assert [n for n, node in lists.items() if node["maxItems"] > 4096 or "items" not in node] == []


def test_every_value_has_a_type_or_a_closed_set(found: Walked) -> None:
    # Meanings are an `anyOf` of constants, each with its description.
    bare = {n for n, node in found.values.items() if not node.keys() & {"type", "enum", "const"}}

    assert bare <= {"quantity_meanings", "doubt_meanings"}


def _composite(node: Node, root: Node) -> bool:
    """Objects, and lists of objects, are shown by the examples of their fields."""
    if node.get("type") == "array":
        return _composite(resolved(node["items"], root), root)
    return bool(node.get("type") == "object")


def _errors(node: Node, example: Any, root: Node) -> list[str]:  # noqa: ANN401 - any JSON value
    rooted = {**node, "$defs": root["$defs"]}
    return [error.message for error in strict_validator(rooted).iter_errors(example)]
