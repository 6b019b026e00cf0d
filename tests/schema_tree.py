"""Walk through a JSON Schema, for several tests of the format."""

from collections.abc import Iterator
from typing import Any

Node = dict[str, Any]


def resolved(node: Node, root: Node) -> Node:
    """The node with its reference followed; keys next to the reference win."""
    reference = node.get("$ref")
    if reference is None:
        return node
    target: Any = root
    for step in reference.removeprefix("#/").split("/"):
        target = target[step]
    beside = {key: value for key, value in node.items() if key != "$ref"}
    return {**resolved(target, root), **beside}


def inlined(node: Any, root: Node) -> Any:  # noqa: ANN401 - any JSON value of a schema
    """The node with every reference followed and without prose; bounds of both sides apply."""
    if isinstance(node, list):
        return [inlined(entry, root) for entry in node]
    if not isinstance(node, dict):
        return node
    own = {
        key: inlined(value, root)
        for key, value in node.items()
        if key not in ("$defs", "$ref") and not (key == "description" and isinstance(value, str))
    }
    if "$ref" not in node:
        return own
    target = inlined(resolved({"$ref": node["$ref"]}, root), root)
    if own.keys() & target.keys():
        return {**own, "allOf": [*own.get("allOf", []), target]}
    return {**target, **own}


def fields(root: Node) -> Iterator[tuple[str, Node]]:
    """Every named field of every object, as `object.field` and its resolved node."""
    for name, node in objects(root):
        for key, entry in node.get("properties", {}).items():
            yield f"{name}.{key}", resolved(entry, root)


def objects(root: Node) -> Iterator[tuple[str, Node]]:
    """Every object that the schema describes, by the name of its definition."""
    tops = {"$": root, **root["$defs"]}
    for name, node in tops.items():
        yield from _objects_within(name, node)


def values(root: Node) -> Iterator[tuple[str, Node]]:
    """Every node that constrains a single value: fields, entries of arrays, definitions."""
    for name, node in [*fields(root), *root["$defs"].items()]:
        yield name, node
        if "items" in node:
            yield f"{name}[]", resolved(node["items"], root)


def _objects_within(name: str, node: Node) -> Iterator[tuple[str, Node]]:
    if node.get("type") == "object":
        yield name, node
    for key, entry in node.get("properties", {}).items():
        yield from _objects_within(f"{name}.{key}", entry)
    if "items" in node:
        yield from _objects_within(f"{name}[]", node["items"])
