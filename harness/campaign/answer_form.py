"""Check whether an answer has the form that its prompt asks for. The answer's text is not stored.

JSON must parse and match the JSON Schema of its prompt, calls must match the prompt's tools, and no
text may end in a loop. An answer that was cut off at its length limit is checked up to that point:
parts missing from an unclosed value are not errors.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from harness.campaign.model import SuitePrompt
from schemas.submission import AnswerForm

_JSON, _TOOLS = "json", "tools"
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# A JSON value is at the start of a line, follows a function's name, or opens with a bracket and its
# first word.
_START = re.compile(
    r"""(?:^[ \t]*|\b(?P<function>\w{1,64}+)\(\s*)[\[{]|[\[{]\s*["'\[\]{}]""", re.MULTILINE
)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)|[\[\]{},]', re.DOTALL)
_CLOSING = {"[": "]", "{": "}"}
_DEEPEST = 64
# Schema keywords that can fail merely because a value was cut off.
_OF_AN_END = frozenset({"required", "minItems", "minProperties", "contains", "anyOf", "oneOf"})
# A text that ends in at least this many repeats, and characters, is a loop; lists have fewer.
_REPEATS, _REPEATED_CHARACTERS = 4, 60


def form_of(prompt: SuitePrompt, text: str, *, cut: bool) -> AnswerForm | None:
    """Return whether an answer is valid, and if not, what is wrong; `None` if that is unknown.

    `cut` means that the length limit ended the answer.
    """
    written = _THOUGHTS.sub("", text).strip()
    if not written:
        return None
    formal = prompt.schema is not None or prompt.task == _JSON
    form = _formal(prompt, written, cut=cut) if formal else "valid"
    # Calls and records may repeat: a text whose values parse and match is not a loop.
    if _loops(written) and not (formal and form):
        return "loop"
    return form


def _formal(prompt: SuitePrompt, text: str, *, cut: bool) -> AnswerForm | None:
    tools = prompt.task == _TOOLS
    values = list(_values(text, cut=cut))
    if not tools:
        values = values[:1]
    if None in values or not (values or tools):
        return "invalid-json"
    read = [each for each in values if each is not None and not (tools and each.is_definition)]
    if not read:  # prose may come before a call
        return None if cut else "invalid-json"
    check = _validator(prompt.schema or "true", tools)
    faults = (
        tuple(error.instance_path) not in found.open_paths or error.kind.name not in _OF_AN_END
        for found in read
        for error in check.iter_errors(found.value)
    )
    return "wrong-schema" if any(faults) else "valid"


@dataclass(frozen=True, slots=True)
class _Value:
    """A JSON value; `open_paths` are the paths of its arrays and objects that were never closed."""

    value: Any
    open_paths: frozenset[tuple[str | int, ...]] = frozenset()

    @property
    def is_definition(self) -> bool:
        """Whether the value defines functions (as some prompts ask) instead of calling one."""
        first = self.value[0] if isinstance(self.value, list) and self.value else self.value
        return isinstance(first, dict) and "parameters" in first and "arguments" not in first


def require_schema(prompt: SuitePrompt) -> None:
    """Raise `ValueError` unless a prompt's `schema` is a JSON Schema or a list of tools."""
    if prompt.schema is not None:
        try:
            _validator(prompt.schema, prompt.task == _TOOLS)
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"{prompt.id}: its schema is not a list of tools, each with a name and parameters"
            ) from error


@cache
def _validator(schema: str, tools: bool) -> Draft202012Validator:  # noqa: FBT001 - a key
    stated = json.loads(schema)
    whole = _of_calls(stated) if tools else stated
    return Draft202012Validator(whole, retriever=_unread)


def _unread(place: str) -> Any:  # noqa: ANN401 - what the library expects
    """Refuse a schema with a reference, since resolving it would fetch a URL or open a file."""
    raise ValueError(
        f"{place} is an external reference, which is not read; copy its content into the schema"
    )


def _of_calls(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON Schema for a call to any of the tools, or for a list of calls."""
    parameters = {tool["name"]: tool["parameters"] for tool in tools}
    call = {
        "type": "object",
        "required": ["name", "arguments"],
        "properties": {"name": {"enum": [*parameters]}, "arguments": {"type": "object"}},
        "allOf": [
            {
                "if": {"required": ["name"], "properties": {"name": {"const": name}}},
                "then": {"properties": {"arguments": schema}},
            }
            for name, schema in parameters.items()
        ],
    }
    return {"if": {"type": "array"}, "then": {"items": call}, "else": call}


def _values(text: str, *, cut: bool) -> Iterator[_Value | None]:
    """Yield the JSON values found in an answer, in order; `None` for one that does not parse."""
    at = 0
    while start := _START.search(text, at):
        begin = start.end() - 1 if start["function"] or start[0].strip() in _CLOSING else None
        begin = start.start() if begin is None else begin
        found, at = _read(text, begin, cut=cut)
        if found is not None and start["function"]:
            paths = frozenset(("arguments", *each) for each in found.open_paths)
            found = _Value({"name": start["function"], "arguments": found.value}, paths)
        yield found


def _read(text: str, start: int, *, cut: bool) -> tuple[_Value | None, int]:
    """Return the JSON value that starts at a position, and the position where it ends.

    If the answer was `cut` off, the value's open brackets are closed.
    """
    closing: list[str] = []
    whole = ("", start)  # closing brackets for a cut value, and the value's end
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _CLOSING:
            closing.append(_CLOSING[mark])
        elif mark in ("]", "}") and mark != closing.pop():
            return None, token.end()
        if len(closing) > _DEEPEST:
            return None, len(text)
        if not closing:
            return _parsed(text[start : token.end()], 0), token.end()
        if mark == ",":
            whole = ("".join(reversed(closing)), token.start())
        elif not mark.startswith('"'):
            whole = ("".join(reversed(closing)), token.end())
    ending, end = whole
    return _parsed(text[start:end] + ending, len(ending)) if cut else None, len(text)


def _parsed(text: str, levels: int) -> _Value | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    paths: list[tuple[str | int, ...]] = [()]
    part = value
    for _ in range(1, levels):
        key = len(part) - 1 if isinstance(part, list) else next(reversed(part))
        paths.append((*paths[-1], key))
        part = part[key]
    return _Value(value, frozenset(paths[:levels]))


def _loops(text: str) -> bool:
    """Whether a text ends by repeating the same words over and over."""
    for unit in range(1, len(text) // _REPEATS + 1):
        repeats = max(_REPEATS, -(-_REPEATED_CHARACTERS // unit))
        if repeats * unit <= len(text) and text.endswith(text[-unit:] * repeats):
            return True
    return False
