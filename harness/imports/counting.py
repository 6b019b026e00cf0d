"""Compute times from the rates of other tools."""

import math
from collections.abc import Iterable

from harness.imports.json_object import MS_PER_S
from harness.imports.needed_facts import RateCounts
from harness.imports.records import Record

_CLOSE = 0.25  # in tokens; counting tokens or steps differs by one


def decode_ms(record: Record, counts: RateCounts) -> float | None:
    """Return the milliseconds from the first token to the last, from the rate if no time is given.

    Builds up to mid-2026 computed the rate from all tokens; later builds leave out the first token.
    """
    tokens, per_second = record.output_tokens, record.per_second
    if record.decode_ms is not None or not tokens or not per_second:
        return record.decode_ms
    counted = tokens if counts == "tokens" else tokens - 1
    ms = counted / per_second * MS_PER_S
    return ms if math.isfinite(ms) else None


def rate_counts(records: Iterable[Record]) -> RateCounts | None:
    """Return whether the tool's rates count all tokens, or steps (all tokens but the first).

    The first record with a time and a rate that fit either unit decides; `None` without one.
    """
    for record in records:
        tokens, ms, per_second = record.output_tokens, record.decode_ms, record.per_second
        if tokens and ms and per_second:
            more = per_second * ms / MS_PER_S - tokens
            if abs(more) < _CLOSE:
                return "tokens"
            if abs(more + 1) < _CLOSE:
                return "steps"
    return None
