"""What does verification cost? A bar per width: one step of the target, in single steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemas.submission import Probes, VerificationProbe

_BAR_LENGTH = 30


def lines(probes: Probes | None) -> Iterator[str]:
    """The verification curve and the drafting costs as text; nothing without probes."""
    curve = probes.verification if probes else None
    if curve is not None and curve.widths[0] == 1:
        yield "Cost of one target step by how many tokens it checks (1.00 is one plain token):"
        yield from _bars(curve)
    for cost in (probes.drafting if probes else None) or ():
        yield f"  drafting one token with {cost.draft}: {cost.token_ms_median:.1f} ms"


def _bars(curve: VerificationProbe) -> Iterator[str]:
    single_ms = curve.step_ms_median[0]
    longest = max(curve.step_ms_median)
    for width, step_ms in zip(curve.widths, curve.step_ms_median, strict=True):
        bar = "█" * max(1, round(_BAR_LENGTH * step_ms / longest))
        yield f"  {width:>4} {bar:<{_BAR_LENGTH}} {step_ms / single_ms:>5.2f}  {step_ms:.1f} ms"
