"""The format reference, `docs/format.md`: every field of a submission, read from its schema.

`make format` writes it; a test keeps the file equal to the schema.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from schemas.validator import SUBMISSION_SCHEMA, resolved, schema

# A schema is JSON of any shape.
Node: TypeAlias = Mapping[str, Any]

LONGEST_PATTERN = 48
HEAD = """\
# Result format

{description}

Written by `make format` from `schemas/{file}`, the only definition of the format.
Objects are closed: an unknown key is an error. Units are in the names: `_ms` milliseconds, `_s`
seconds, `_mib` mebibytes, `_w` watts, `_j` joules. Check a file with
`python -m harness validate FILE`.

New files are written in version {version}. Files of version 1 stay valid and keep their bytes,
names and addresses. They are judged by the fields that version 1 had, and read as version 2 with
the usual settings. A field that is newer than version 1 says so. To add a version: write the field
with `"since": 3` into the schema, and raise the constant of `version` there, in
`schemas/submission.py` and in `schemas/migrations.py`.
"""
TABLE = "| Field | Type | Meaning | Example |\n| --- | --- | --- | --- |"


def reference() -> str:
    """The whole document."""
    root = schema(SUBMISSION_SCHEMA)
    head = HEAD.format(
        description=root["description"],
        file=SUBMISSION_SCHEMA,
        version=root["properties"]["version"]["const"],
    )
    return "\n".join([head, *(_object(each) for each in sections(root))])


def _object(section: Node) -> str:
    lines = "\n".join(_line(field) for field in section["fields"])
    return f"## {section['title']}\n\n{section['description']}\n\n{TABLE}\n{lines}\n"


def _line(field: Node) -> str:
    """One field as a row of its table."""
    name = f"`{field['name']}`{' (required)' if field['required'] else ''}"
    since = f"since version {field['since']}" if field["since"] else ""
    kind = f"[{field['kind']}](#{field['anchor']})" if field["anchor"] else field["kind"]
    choices = ", ".join(f"`{choice}`" for choice in field["choices"])
    types = "; ".join(filter(None, (kind, choices, *field["bounds"], since)))
    example = f"`{field['example']}`" if field["example"] else ""
    cells = (each.replace("|", "\\|") for each in (name, types, field["description"], example))
    return f"| {' | '.join(cells)} |"


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
        yield f"pattern `{pattern}`"


def _anchor(name: str) -> str:
    """As code hosts make it of the heading."""
    return name.replace(".", "")


if __name__ == "__main__":
    sys.stdout.write(reference())
