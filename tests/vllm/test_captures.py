"""Does a real vLLM still answer as it did when its answers became test data?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from tools.vllm.capture import CAPTURES, kept
from tools.vllm.environment import SPECULATION, ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


REQUESTS = sorted(CAPTURES.glob("*/*.request.json"))


def keys(value: object, place: str = "") -> Iterator[str]:
    """Every place in an answer that has a name: `choices[].message.content`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{place}.{name}"
            yield from keys(inner, f"{place}.{name}")
    if isinstance(value, list):
        for inner in value:
            yield from keys(inner, f"{place}[]")


def shape(answer: bytes) -> set[str]:
    """The names in an answer, in its events, or on a page of metrics."""
    if answer.startswith(b"#"):
        return {line.split(b"{")[0].decode() for line in answer.splitlines() if b"{" in line}
    if not answer.startswith(b"data:"):
        return set(keys(orjson.loads(answer)))
    events = (line.removeprefix(b"data: ") for line in answer.splitlines() if line)
    return {name for event in events if event != b"[DONE]" for name in keys(orjson.loads(event))}


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_same_request_gets_an_answer_of_the_same_shape(
    servers: dict[str, str], path: Path
) -> None:
    asked = orjson.loads(path.read_bytes())
    captured = path.with_name(path.name.removesuffix(".request.json")).read_bytes()

    status, answer = ask(servers[path.parent.name], asked)

    assert status == asked["status"]
    assert shape(kept(asked["path"], answer)) == shape(captured)


def test_every_mode_has_captures() -> None:
    assert {path.parent.name for path in REQUESTS} == set(SPECULATION)
    assert len(REQUESTS) >= 30
