"""Whose file is this? Told by keys that only one format has; for a hint, never for a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.importers.entries import lines
from harness.importers.source import text

if TYPE_CHECKING:
    from harness.importers.entries import Entry
    from harness.importers.source import Given

# The first row of a file that has all keys of a sign is of that format.
_KEYS: dict[str, tuple[frozenset[str], ...]] = {
    "llama-bench": (frozenset({"n_gen", "model_filename"}), frozenset({"n_gen", "avg_ts"})),
    "spec-bench": (frozenset({"question_id", "choices"}),),
    "vllm": (
        frozenset({"usage", "choices"}),
        frozenset({"custom_id", "response"}),
        frozenset({"request_throughput", "num_prompts"}),
    ),
    "speed-bench": (frozenset({"config", "results", "summary"}),),
    "mtp-bench": (
        frozenset({"requests", "aggregate"}),
        frozenset({"results", "aggregate"}),
    ),
    "inventivehq": (frozenset({"runs", "hardware"}), frozenset({"runs", "meta"})),
    "a result of this project, which needs no import": (
        frozenset({"format", "version", "trials", "arms"}),
    ),
}
_STARTS = {
    "build_commit,": "llama-bench's CSV, which lacks the repetitions: run it with -o json",
    "| model": "llama-bench's table, which lacks the repetitions: run it with -o json",
    "data: {": "a stream of chunks: ask for answers without streaming",
}


def looks_like(file: Given) -> str | None:
    """The name of a format, a description of what cannot be read, or `None`."""
    try:
        start = text(file).lstrip()
        for sign, meaning in _STARTS.items():
            if start.startswith(sign):
                return meaning
        row = next(iter(lines(file)), None)
    except BadInputError:
        return None
    return None if row is None else _of_row(row)


def _of_row(row: Entry) -> str | None:
    keys = row.value.keys()
    return next(
        (name for name, signs in _KEYS.items() if any(sign <= keys for sign in signs)), None
    )
