"""The format reference: every field of a submission, read from its schema."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pipeline.site.pages.environment import render
from pipeline.site.pages.model import Page, Site
from schemas.validator import SUBMISSION_SCHEMA, resolved, schema

# A schema is JSON of any shape.
Node: TypeAlias = Mapping[str, Any]

LONGEST_PATTERN = 48


def format_reference(site: Site) -> Page:
    root = schema(SUBMISSION_SCHEMA)
    listed = tuple(sections(root))
    return render(
        "format.md.jinja",
        path="format.md",
        site=site,
        sections=listed,
        root=root,
        schema_file=SUBMISSION_SCHEMA,
    )


def sections(root: Node) -> Iterator[Node]:
    """All objects of the format, each once, in the order in which a reader meets them."""
    queue: list[tuple[str, Node]] = [("submission", root)]
    seen = {"submission"}
    while queue:
        name, node = queue.pop(0)
        yield _section(name, node, root)
        for child_name, child in _children(name, node, root):
            if child_name not in seen:
                seen.add(child_name)
                queue.append((child_name, child))


def _section(name: str, node: Node, root: Node) -> Node:
    """One object of the format and its keys."""
    required = set(node.get("required", ()))
    return {
        "title": name,
        "anchor": _anchor(name),
        "description": node.get("description", ""),
        "fields": tuple(
            _field(name, key, value, root, required=key in required)
            for key, value in node["properties"].items()
        ),
    }


def _field(parent: str, key: str, node: Node, root: Node, *, required: bool) -> Node:
    """One key of an object."""
    whole = resolved(node, root)
    item = resolved(whole["items"], root) if "items" in whole else whole
    target = _object_name(parent, key, whole.get("items", node), item)
    examples = whole.get("examples") or item.get("examples") or []
    return {
        "name": key,
        "required": required,
        "kind": _kind(whole, item),
        "anchor": _anchor(target) if target else None,
        "bounds": (*_bounds(whole), *(_bounds(item) if item is not whole else ())),
        "choices": [item["const"]] if "const" in item else item.get("enum", ()),
        "description": whole.get("description", item.get("description", "")),
        "example": json.dumps(examples[0], ensure_ascii=False) if examples else None,
        "since": whole.get("since"),
    }


def _children(name: str, node: Node, root: Node) -> Iterator[tuple[str, Node]]:
    for key, value in node["properties"].items():
        whole = resolved(value, root)
        inner = whole.get("items", value)
        item = resolved(inner, root)
        target = _object_name(name, key, inner, item)
        if target:
            yield target, item
    for branch in node.get("allOf", ()):
        reference = branch.get("then", {})
        if "$ref" in reference:
            yield reference["$ref"].rsplit("/", 1)[1], resolved(reference, root)


def _object_name(parent: str, key: str, node: Node, resolved: Node) -> str | None:
    """The section that an object is documented in; `None` for what is no object."""
    if "properties" not in resolved:
        return None
    if "$ref" in node:
        return str(node["$ref"]).rsplit("/", 1)[1]
    return key if parent == "submission" else f"{parent}.{key}"


def _kind(whole: Node, item: Node) -> str:
    if item is not whole:
        return f"list of {_kind(item, item)}"
    if "const" in whole:
        return "constant"
    if "enum" in whole:
        return "one of"
    if whole.get("format") == "date-time":
        return "date and time"
    return str(whole["type"])


def _bounds(node: Node) -> Iterator[str]:
    if "minimum" in node:
        yield f"≥ {node['minimum']:,}"
    if "maximum" in node:
        yield f"≤ {node['maximum']:,}"
    if "minItems" in node:
        yield f"at least {node['minItems']:,} entries"
    if "maxItems" in node:
        yield f"at most {node['maxItems']:,} entries"
    if "maxLength" in node:
        yield f"at most {node['maxLength']:,} characters"
    pattern = node.get("pattern", "")
    if pattern and len(pattern) <= LONGEST_PATTERN:
        yield f"pattern {pattern}"


def _anchor(name: str) -> str:
    return name.replace("_", "-").replace(".", "-")
