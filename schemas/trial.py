"""What was measured? Trials, warm-ups and probes, as the schema has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "failed"]
Reason = Literal[
    "out-of-memory",
    "vocabulary-mismatch",
    "rollback-unsupported",
    "context-too-small",
    "load-failed",
    "crashed",
    "timed-out",
    "bad-answer",
    "interrupted",
    "other",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    arm: str
    prompt: str
    block: int
    order: int
    outcome: Outcome
    reason: Reason | None = None
    prompt_ms: float | None = None
    output_tokens: int | None = None
    decode_ms: float | None = None
    draft_ms: float | None = None
    verify_ms: float | None = None
    started_ms: float | None = None
    wall_ms: float | None = None
    ttft_ms: float | None = None
    rounds: int | None = None
    full_rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    metrics_drafted: int | None = None
    metrics_accepted: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    drafted_histogram: tuple[int, ...] | None = None
    round_ms_median: tuple[float, ...] | None = None
    round_cpu_ms_median: tuple[float, ...] | None = None
    finish: Literal["length", "stop"] | None = None
    output_sha256: str | None = None
    compared_tokens: int | None = None
    first_divergence: int | None = None
    divergence_margin: float | None = None
    energy_j: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmup:
    arm: str
    output_tokens: int
    decode_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationProbe:
    context_tokens: int
    repeats: int
    widths: tuple[int, ...]
    step_ms_median: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftingProbe:
    draft: str
    repeats: int
    token_ms_median: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    verification: VerificationProbe | None = None
    drafting: tuple[DraftingProbe, ...] | None = None
