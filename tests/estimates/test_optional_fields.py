"""A forged file stays suspicious whatever optional fields it leaves out."""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from estimates.summary import summarize
from schemas.contract import read
from schemas.submission import Submission
from schemas.validator import SUBMISSION_SCHEMA, schema
from tests.nightly import few
from tests.schema_tree import resolved

RESULTS = Path(__file__).parents[2] / "results" / "community"
ROOT = schema(SUBMISSION_SCHEMA)
TIMES = ("decode_ms", "wall_ms", "prompt_ms", "ttft_ms", "cpu_ms", "draft_prompt_ms")
NOW = datetime(2026, 12, 31, tzinfo=UTC)
# Twelve honest files, as if their machine were so many times as fast.
FORGED = {
    "apple-m3-max--qwen2-5-coder-7b-instruct-q4-k-s--20260626-b224230e": 10,
    "intel-r-core-tm-i7-8700-cpu-3-20--qwen2-5-coder-3b-instruct-q4-k-m--20260626-37279bfd": 200,
    "nvidia-geforce-gtx-1080-ti--qwen2-5-coder-7b-instruct-q4-k-s--20260626-1721191f": 10,
    "nvidia-geforce-gtx-1080-ti--qwen2-5-coder-7b-instruct-q4-k-s--20260626-eee0937a": 10,
    "nvidia-geforce-rtx-4070-ti--qwen3-8-27b-iq4-xs--20260816-24392ea5": 40,
    "nvidia-geforce-rtx-4070-ti--qwen3-8-27b-ud-iq2-xxs--20260815-7c06993e": 10,
    "nvidia-geforce-rtx-5060-ti--qwen2-5-coder-14b-instruct-q4-k--20260626-27e1ba79": 10,
    "nvidia-geforce-rtx-5060-ti--qwen2-5-coder-7b-instruct-q4-k-s--20260626-326cc016": 10,
    "nvidia-geforce-rtx-5060-ti--qwen2-5-coder-7b-instruct-q4-k-s--20260626-cb70cfe3": 10,
    "nvidia-tesla-v100--qwen3-4b-base-q4-k-m--20260706-dc473e9b": 10,
    "nvidia-tesla-v100--qwen3-6-27b-iq4-xs--20260706-3ae170f3": 10,
    "nvidia-tesla-v100--qwen3-6-35b-a3b-ud-iq4-xs--20260706-a07f7fbb": 40,
}
Path_ = tuple[str, ...]


@cache
def forged(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_bytes())
    for trial in document["trials"]:
        trial |= {key: round(trial[key] / FORGED[name], 3) for key in TIMES if key in trial}
    return document


def optional(value: object, node: dict[str, Any], path: Path_ = ()) -> Iterator[Path_]:
    """Each optional field that is present; `[]` is every entry."""
    node = resolved(node, ROOT)
    if isinstance(value, dict):
        for key, inner in value.items():
            entry = node.get("properties", {}).get(key)
            if entry is not None and key not in node.get("required", []):
                yield (*path, key)
            if entry is not None:
                yield from optional(inner, entry, (*path, key))
    elif isinstance(value, list) and "items" in node:
        for inner in value:
            yield from optional(inner, node["items"], (*path, "[]"))


def dropped(value: Any, path: Path_) -> None:  # noqa: ANN401 - any JSON value
    first, *rest = path
    if first == "[]":
        for inner in value:
            dropped(inner, tuple(rest))
    elif not rest:
        value.pop(first, None)
    elif first in value:
        dropped(value[first], tuple(rest))


def doubts(document: dict[str, Any]) -> set[str] | None:
    """Flags for an impossible or uncheckable speed of a file; `None` if it is refused."""
    found = read(json.dumps(document).encode(), file="forged.json", now=NOW)
    if not isinstance(found, Submission):
        return None
    names = {flag.name for flag in summarize(found).flags}
    return names & {"above-roofline", "speed-unchecked", "cheap-rounds"}


@pytest.mark.parametrize("name", few(FORGED, 3))
def test_a_forged_file_is_refused_or_flagged_without_any_optional_field(name: str) -> None:
    document = forged(name)
    bare = copy.deepcopy(document)
    passed = []
    for path in dict.fromkeys(optional(document, ROOT)):
        without = copy.deepcopy(document)
        dropped(without, path)
        if doubts(without) == set():
            passed.append(path)
        barer = copy.deepcopy(bare)
        dropped(barer, path)
        if doubts(barer) is not None:
            bare = barer  # all of them at once, but for those that the file may not lack

    assert "above-roofline" in (doubts(document) or ())
    assert passed == []
    assert doubts(bare)
