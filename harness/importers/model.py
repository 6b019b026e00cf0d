"""What do the files of another tool say? Records in our words, before anything is missing.

A fact that a file states has the same name as the `--map` option that would state it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemas.submission import Reason

BASELINE = "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One generation. `None` is unknown; a record with a `reason` failed.

    `output_tokens` counts as the format does: the first token, and those that `decode_ms` covers.
    `per_second` is the tool's rate, for records without a time; `rate_counts` says what it counts.
    `output_hash` is the tool's own: equal hashes of two records are equal outputs, no more.
    """

    arm: str
    prompt: str
    place: str
    category: str | None = None
    reason: Reason | None = None
    prompt_tokens: int | None = None
    prompt_ms: float | None = None
    output_tokens: int | None = None
    decode_ms: float | None = None
    per_second: float | None = None
    wall_ms: float | None = None
    ttft_ms: float | None = None
    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    drafted_histogram: tuple[int, ...] | None = None
    finish: Literal["length", "stop"] | None = None
    output_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRead:
    """One configuration. `method` is written as `--map method=` takes it; `None` is unknown."""

    name: str
    method: str | None = None
    concurrency: int | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What belongs into one result: one rig, one target, one baseline.

    `asks` are facts that the files should say and do not; a person must.
    """

    name: str
    suite: str
    arms: tuple[ArmRead, ...]
    records: tuple[Record, ...]
    facts: Mapping[str, str]
    tasks: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None
    asks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that was read, and what these results cannot hold, a line each."""

    parts: tuple[Part, ...]
    left_out: tuple[str, ...] = ()
