"""Change a valid document at one leaf, and list the changes that the gate may accept."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemas.codec import canonical_bytes
from schemas.validator import SUBMISSION_SCHEMA, Schema, schema
from schemas.vocabulary.axes import AXES
from tests.leaves import Path, general, leaves, with_value, without
from tests.schema_tree import inlined

Document = dict[str, Any]


SAYS_LESS = "the field is optional: the file says less, and what it says stays true"
# An axis without a default is recorded only if somebody set it. `temperature` is excluded: a file
# that samples is incomplete without it.
NO_DEFAULT = {
    f"settings.{name}{'[]' if axis.type == 'texts' else ''}"
    for name, axis in AXES.items()
    if axis.default is None and name != "temperature"
}
# The harness may not know these fields: a machine or a person need not state them.
HARNESS_MAY_NOT_KNOW = {
    *("contributor", "notes", "engine.commit", "machine.cpu.physical_cores", "machine.os.version"),
    *(f"machine.gpus[].{name}" for name in ("vendor", "vram_mib")),
    "trials[].prompt_ms",
    "trials[].full_rounds",  # only older files have it
    *NO_DEFAULT,
}
# An import may lack these fields and remain true. The gate finds every other removal.
MAY_BE_MISSING = {
    "arms[].load_s",
    "arms[].argv[]",
    "arms[].placement.target_gpu_layers_requested",
    "contributor",
    "notes",
    "design.resumed",
    "design.seed",
    *(f"drafts[].{name}" for name in ("layers", "parameters")),
    *(f"engine.{name}" for name in ("commit", "package_version")),
    *(f"machine.gpus[].{name}" for name in ("vendor", "vram_mib")),
    *("machine.cpu.physical_cores", "machine.os.version"),
    # Fields that are optional only in imported campaigns; one of the documents is imported.
    *(f"machine.cpu.{name}" for name in ("name", "architecture", "logical_cores")),
    *("machine.ram_mib", "engine.version", "settings.max_output_tokens"),
    *("origin.licence", "origin.source"),
    *("settings.context_tokens", "settings.threads", *NO_DEFAULT),
    *("suite.prompts[].tokens", "suite.prompts[].rendered_sha256"),
    *(f"target.{name}" for name in ("family", "layers", "parameters")),
    *(f"trials[].{name}_ms" for name in ("draft", "prompt", "verify", "wall")),
    *(f"trials[].{name}" for name in ("compared_tokens", "finish", "full_rounds", "output_sha256")),
}
_ROOT: Schema = inlined(schema(SUBMISSION_SCHEMA), schema(SUBMISSION_SCHEMA))
_MARKER = "twice"


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """A changed document; `place` is the path of the change, without list indices."""

    kind: str
    place: str
    data: bytes


def mutations(document: Document) -> Iterator[Mutation]:
    """Yield every kind of change at the first leaf of every field of a document."""
    for path, value in first_leaves(document):
        place = general(path)
        for kind, data in _changes(document, path, value):
            yield Mutation(kind=kind, place=place, data=data)


def first_leaves(document: Document) -> list[tuple[Path, Any]]:
    """The first leaf of every field; a list's items, such as the trials, share their fields."""
    first = {general(path): (path, value) for path, value in reversed([*leaves(document)])}
    return list(reversed(first.values()))


def _changes(document: Document, path: Path, value: Any) -> Iterator[tuple[str, bytes]]:  # noqa: ANN401 - any JSON value
    yield "null", canonical_bytes(with_value(document, path, None))
    yield "removal", canonical_bytes(without(document, path))
    for other in other_types(value):
        yield "type", canonical_bytes(with_value(document, path, other))
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        yield "sign", canonical_bytes(with_value(document, path, -value))
    for wrong in out_of_range(subschema(path, document)):
        yield "range", canonical_bytes(with_value(document, path, wrong))
    if isinstance(path[-1], str):
        yield "extra key", canonical_bytes(with_value(document, (*path[:-1], "extra"), value))
        yield "duplication", twice(document, path, value)


def twice(document: Document, path: Path, value: object) -> bytes:
    """The document's text with this key twice, both times with the same value."""
    data = canonical_bytes(with_value(document, (*path[:-1], _MARKER), value))
    return data.replace(f'"{_MARKER}":'.encode(), json.dumps(path[-1]).encode() + b":", 1)


def other_types(value: object) -> list[object]:
    """Values of all other JSON types but null; no integer for a float: it would be valid."""
    others: list[object] = ["x", {}, [value], str(value), True, 0.5, 7]
    if isinstance(value, bool):
        return [other for other in others if not isinstance(other, bool)]
    if isinstance(value, str):
        return [other for other in others if not isinstance(other, str)]
    numbers = (float,) if isinstance(value, int) else ()
    kept = [o for o in others if isinstance(o, bool) or not isinstance(o, int | float)]
    return [*kept, *(o for o in others if isinstance(o, numbers))]


def out_of_range(node: Schema) -> Iterator[object]:
    """Yield values of the right type that violate a bound, length, pattern, enum or constant."""
    if "minimum" in node:
        yield node["minimum"] - 1
    if "maximum" in node:
        yield node["maximum"] + 1
    if "maxLength" in node:
        yield "x" * (node["maxLength"] + 1)
    if "pattern" in node:
        yield "<\u00e9>"
    if "enum" in node:
        yield "no-such-value"
    if "const" in node:
        yield f"{node['const']}x" if isinstance(node["const"], str) else node["const"] + 1


def subschema(path: Path, document: Document) -> Schema:
    """Return the part of the schema that applies at a path in this document."""
    node, value = _ROOT, document
    for step in path:
        node = _branch(node, value)["items" if isinstance(step, int) else "properties"]
        node = node if isinstance(step, int) else node[step]
        value = value[step]  # type: ignore[index]  # a step of a path that exists
    return {key: bound for part in (*node.get("allOf", ()), node) for key, bound in part.items()}


def is_optional(place: str) -> bool:
    """Check whether the schema lets every object omit the field or list entry at this place."""
    node: Schema = _ROOT
    *steps, last = place.replace("[]", ".[]").split(".")
    for step in steps:
        branches = [part["then"] for part in node.get("allOf", ()) if "then" in part]
        known = {
            name: entry
            for part in (*branches, node)
            for name, entry in part.get("properties", {}).items()
        }
        node = node["items"] if step == "[]" else known[step]
    return last == "[]" or last not in node.get("required", ())


def _branch(node: Schema, value: Any) -> Schema:  # noqa: ANN401 - any JSON value
    """Return the branch of a tagged union that this value matches, else the node itself."""
    for part in node.get("allOf", ()):
        tagged = "type" in part.get("if", {}).get("properties", {})
        if tagged and "properties" in part["then"]:
            wanted = part["if"]["properties"]["type"]
            if value["type"] in wanted.get("enum", [wanted.get("const")]):
                branch: Schema = part["then"]
                return branch
    return node
