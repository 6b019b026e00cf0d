"""Write the fields of a result into `docs/format.md`, below its introduction: `make format`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from schemas.validator import SUBMISSION_SCHEMA, resolved, schema

Node: TypeAlias = Mapping[str, Any]
PAGE = Path(__file__).parents[1] / "docs" / "format.md"
MARK = "\n## Every field\n"
BOUNDS = {"minimum": "≥ {:,}", "maximum": "≤ {:,}", "maxItems": "at most {:,} entries"}


def page() -> str:
    """The text of `docs/format.md`: its unchanged introduction, and the fields from the schema."""
    introduction = PAGE.read_text("utf-8").partition(MARK)[0]
    root = schema(SUBMISSION_SCHEMA)
    return f"{introduction}{MARK}{''.join(_objects('result', root, root, set()))}"


def _objects(name: str, node: Node, root: Node, seen: set[str]) -> Iterator[str]:
    """Yield a Markdown table of fields for each kind of object, in order of first use."""
    seen.add(str(node["properties"]))
    needed = node.get("required", ())
    fields = {key: _whole(value, root) for key, value in node["properties"].items()}
    yield f"\n### {name}\n\n| field | type | meaning |\n| --- | --- | --- |\n"
    for key, (whole, item) in fields.items():
        label = f"`{key}`" + ("" if key in needed else " (optional)")
        text = whole.get("description", item.get("description", "")).replace("|", "\\|")
        yield f"| {label} | {_kind(whole, item)} | {text} |\n"
    for key, (_, item) in fields.items():
        if "properties" in item and str(item["properties"]) not in seen:
            yield from _objects(key, item, root, seen)


def _whole(value: Node, root: Node) -> tuple[Node, Node]:
    """Return the schemas of a field and its list entries; for a non-list, both are the field's."""
    whole = resolved(value, root)
    return whole, resolved(whole["items"], root) if "items" in whole else whole


def _kind(whole: Node, item: Node) -> str:
    words = [f"list of {_type(item)}" if item is not whole else _type(whole)]
    words += [say.format(whole[each]) for each, say in BOUNDS.items() if each in whole]
    return ", ".join(words + ([f"since {whole['since']}"] if "since" in whole else []))


def _type(node: Node) -> str:
    choices = [node["const"]] if "const" in node else node.get("enum", ())
    return " or ".join(f"`{each}`" for each in choices) or str(node["type"])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
