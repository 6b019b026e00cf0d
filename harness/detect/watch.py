"""How did the machine's state change over a campaign? A watch that is started before it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from harness.detect.environment import cpu_times, snapshot

if TYPE_CHECKING:
    from schemas.submission import Snapshot

# Long enough for a hundred ticks of the kernel's clock on one core.
_SAMPLE_S = 1.0


class Watch:
    """Takes snapshots; the share of stolen time in later ones counts from the first."""

    def __init__(self, *, sample_s: float = _SAMPLE_S) -> None:
        self._began = cpu_times()
        self._sample_s = sample_s

    def snapshot(self, moment: Literal["before", "after", "during"]) -> Snapshot:
        """The state now; `before` waits for a short sample of stolen time."""
        if moment == "before":
            time.sleep(self._sample_s)
        return snapshot(moment, since=self._began)
