"""The DuckDB types of a document, generated from its schema or dataclass; never inferred.

A structure is what DuckDB's `from_json` takes: objects become structs, arrays lists, leaves the
name of a type.
"""

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

Structure: TypeAlias = "str | list[Structure] | dict[str, Structure]"
Schema: TypeAlias = "Mapping[str, Any]"  # a JSON schema is JSON of any shape

LEAVES = {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
FORMATS = {"date-time": "TIMESTAMP", "date": "DATE"}
PYTHON_LEAVES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


def schema_structure(schema: Schema) -> Structure:
    """The structure of the documents that a JSON Schema describes."""
    return _structure(schema, schema.get("$defs", {}))


def dataclass_structure(cls: type) -> Structure:
    """The structure of a frozen dataclass as JSON."""
    return {name: _hint_structure(hint) for name, hint in get_type_hints(cls).items()}


def _structure(schema: Schema, defs: Schema) -> Structure:
    node = _resolved(schema, defs)
    properties = _properties(node, defs)
    if properties:
        return {name: _structure(child, defs) for name, child in properties.items()}
    if node.get("type") == "array":
        return [_structure(node["items"], defs)]
    return _leaf(node)


def _resolved(schema: Schema, defs: Schema) -> Schema:
    """The schema with its reference followed; keys beside `$ref` win."""
    if "$ref" not in schema:
        return schema
    target: Schema = {"$defs": defs}
    for part in schema["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**_resolved(target, defs), **{k: v for k, v in schema.items() if k != "$ref"}}


def _properties(node: Schema, defs: Schema) -> dict[str, Schema]:
    """The properties of an object, those of its tagged variants (`allOf … then $ref`) included."""
    properties = dict(node.get("properties", {}))
    variants = (branch.get("then", {}) for branch in node.get("allOf", ()))
    for variant in variants:
        if "$ref" in variant:
            properties |= {
                name: child
                for name, child in _resolved(variant, defs)["properties"].items()
                if name not in properties
            }
    return properties


def _leaf(node: Schema) -> str:
    if node.get("format") in FORMATS:
        return FORMATS[node["format"]]
    if "type" in node:
        return LEAVES[node["type"]]
    value = node["const"] if "const" in node else node["enum"][0]
    return PYTHON_LEAVES[type(value)]


def _hint_structure(hint: Any) -> Structure:  # noqa: ANN401 - a type hint is any object
    origin = get_origin(hint)
    if origin is Literal:
        return PYTHON_LEAVES[type(get_args(hint)[0])]
    if origin is tuple:
        return [_hint_structure(get_args(hint)[0])]
    if origin in (Union, types.UnionType):
        (member,) = (each for each in get_args(hint) if each is not types.NoneType)
        return _hint_structure(member)
    if dataclasses.is_dataclass(hint):
        return dataclass_structure(hint)  # type: ignore[arg-type]  # a hint is a class
    return PYTHON_LEAVES[hint]
