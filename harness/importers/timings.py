"""What do llama-server's counters mean? The same fields stand in several tools' files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Literal

    RateCounts = Literal["tokens", "steps"]

MS_PER_S = 1000.0


def decode_ms(tokens: int | None, per_second: float | None, counts: RateCounts) -> float | None:
    """Milliseconds from the first token to the last, from a rate.

    Builds up to mid-2026 divided all tokens by the time, later ones all but the first.
    """
    if not tokens or not per_second:
        return None
    counted = tokens if counts == "tokens" else tokens - 1
    return counted / per_second * MS_PER_S


def rate_counts(tokens: int, ms: float, per_second: float) -> RateCounts | None:
    """What a rate counts, judged by a record that has the time as well; `None` if neither fits."""
    counted = per_second * ms / MS_PER_S
    for name, expected in (("tokens", tokens), ("steps", tokens - 1)):
        if abs(counted - expected) < 0.25:  # noqa: PLR2004 - a quarter token: the two differ by one
            return "tokens" if name == "tokens" else "steps"
    return None


def rounds(tokens: int | None, accepted: int | None) -> int | None:
    """Target passes after the first token: output_tokens - 1 - accepted."""
    if tokens is None or accepted is None:
        return None
    return tokens - 1 - accepted if tokens - 1 - accepted >= 0 else None
