"""What ends a run early but keeps what it measured? Ctrl-C, and a polite request from outside."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def treat_termination_as_ctrl_c() -> None:
    """Let SIGTERM (from `kill`, `timeout`, a shutdown) do what Ctrl-C does, from now on."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
