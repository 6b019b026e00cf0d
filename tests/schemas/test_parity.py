"""The dataclasses and the schema of a submission name the same fields with the same types."""

import copy
import dataclasses
import types
from collections.abc import Callable, Iterator
from typing import Literal, Union, get_args, get_origin, get_type_hints

import pytest

from schemas.method import Method
from schemas.submission import Submission
from schemas.validator import SUBMISSION_SCHEMA, schema
from schemas.vocabulary import METHODS
from tests.schema_tree import Node, resolved

NAMES = {int: "integer", float: "number", str: "string", bool: "boolean"}
# `runners.toml` lists the names, and a test of the vocabulary compares them with the schema's.
OPEN = {"engine.runner": "string"}


def test_every_field_of_the_dataclasses_is_the_field_of_the_schema() -> None:
    found = list(differences(Submission, schema(SUBMISSION_SCHEMA)))

    assert found == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda s: s["$defs"]["trial"]["properties"].pop("ttft_ms"), "trials[].ttft_ms"),
        (lambda s: s["$defs"]["gpu"]["properties"].update(bios={}), "machine.gpus[].bios"),
        (lambda s: s["$defs"]["trial"]["required"].append("rounds"), "trials[].rounds"),
        (lambda s: s["$defs"]["design"]["required"].remove("blocks"), "design.blocks"),
        (lambda s: s["properties"]["tier"]["enum"].append("guessed"), "tier"),
        (lambda s: s["$defs"]["count"].update(type="number"), "trials[].accepted"),
        (lambda s: s["$defs"]["count"].update(type="number"), "trials[].accepted_histogram[]"),
        (
            lambda s: s["$defs"]["method_oracle"]["properties"].pop("acceptance"),
            "arms[].method.acceptance",
        ),
        (
            lambda s: s["$defs"]["method_oracle"]["properties"]["acceptance"].update(type="string"),
            "arms[].method(oracle).acceptance",
        ),
        (
            lambda s: s["$defs"]["method"]["properties"]["type"]["enum"].append("magic"),
            "arms[].method.type",
        ),
        (lambda s: s["$defs"]["method"]["allOf"].pop(), "arms[].method.type"),
    ],
)
def test_a_difference_is_named(change: Callable[[Node], object], named: str) -> None:
    changed = copy.deepcopy(schema(SUBMISSION_SCHEMA))
    change(changed)

    found = list(differences(Submission, changed))

    assert any(line.startswith(f"{named}:") for line in found), found


def differences(cls: type, root: Node) -> Iterator[str]:
    """One line per field in which dataclass and schema differ, beginning with its path."""
    yield from _of_object(cls, root, root, "")


def _of_object(cls: type, node: Node, root: Node, path: str) -> Iterator[str]:
    hints = get_type_hints(cls)
    properties = node.get("properties", {})
    for name in sorted(hints.keys() ^ properties.keys()):
        yield f"{path}{name}: is only in the {'schema' if name in properties else 'dataclass'}"
    for field in dataclasses.fields(cls):
        if field.name not in properties:
            continue
        optional = types.NoneType in get_args(hints[field.name])
        if optional != (field.default is None):
            yield f"{path}{field.name}: a field that may be None has the default None"
        if optional == (field.name in node.get("required", [])):
            yield f"{path}{field.name}: required in one of the two, optional in the other"
        entry = resolved(properties[field.name], root)
        check = _of_method if hints[field.name] is Method else _of_value
        yield from check(hints[field.name], entry, root, f"{path}{field.name}")


def _of_value(hint: object, node: Node, root: Node, path: str) -> Iterator[str]:
    if get_origin(hint) in (Union, types.UnionType):
        (member,) = (member for member in get_args(hint) if member is not types.NoneType)
        yield from _of_value(member, node, root, path)
    elif get_origin(hint) is Literal:
        allowed = node.get("enum", [node.get("const")])
        if sorted(map(str, allowed)) != sorted(map(str, get_args(hint))):
            yield f"{path}: the schema allows {allowed}, the dataclass {get_args(hint)}"
    elif get_origin(hint) is tuple:
        if node.get("type") != "array":
            yield f"{path}: a tuple is an array"
        entry = resolved(node.get("items", {}), root)
        yield from _of_value(get_args(hint)[0], entry, root, f"{path}[]")
    elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
        yield from _of_object(hint, node, root, f"{path}.")
    elif node.get("type", OPEN.get(path)) != NAMES[hint]:  # type: ignore[index]  # only scalar types are left
        yield f"{path}: {hint} in the dataclass, {node.get('type')} in the schema"


def _of_method(cls: object, node: Node, root: Node, path: str) -> Iterator[str]:
    """One class for all types: the branch of a type has some of its fields."""
    branches = {}
    for branch in node["allOf"]:
        condition = branch["if"]["properties"]["type"]
        for kind in condition.get("enum", [condition.get("const")]):
            branches[kind] = resolved(branch["then"], root)
    if not branches.keys() == METHODS.keys() == set(node["properties"]["type"]["enum"]):
        yield f"{path}.type: {sorted(branches)} have a branch, {sorted(METHODS)} an entry"
    hints = get_type_hints(cls)
    allowed = {name for branch in branches.values() for name in branch["properties"]}
    for name in sorted(hints.keys() ^ allowed):
        yield f"{path}.{name}: is only in the {'schema' if name in allowed else 'class'}"
    for kind, branch in branches.items():
        for name in (branch["properties"].keys() & hints.keys()) - {"type"}:
            entry = resolved(branch["properties"][name], root)
            yield from _of_value(hints[name], entry, root, f"{path}({kind}).{name}")
