"""What settings gained where they were measured, and which of them a plan's setting is like."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSetting:
    """A method at a depth on a device with a model, with the best of its drafts.

    It is `recommended` unless it, or a whole request with it, is clearly slower.
    """

    device: str
    on_cpu: bool
    model: str
    quantisation: str
    method: str
    depth: int | None
    speedup: float
    low: float
    high: float
    recommended: bool


def nearest(settings: Iterable[MeasuredSetting], method: str, depth: int) -> MeasuredSetting | None:
    """What a method gained at this depth; at another one only where it gained nothing there."""
    own = [each for each in settings if each.method == method]
    found = min(own, key=lambda x: (abs((x.depth or depth) - depth), x.speedup), default=None)
    if found is None or found.depth in (None, depth):
        return found
    return None if found.recommended and found.speedup >= 1 else found
