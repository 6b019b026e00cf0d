"""How did a child process die? In words, from its return code."""

from __future__ import annotations

import signal


def death(returncode: int) -> str | None:
    """`killed by SIGSEGV` for the code of a child that a signal ended, else `None`.

    Windows has no signals: there a crash ends with a status from 0xC0000000 up.
    """
    if returncode < 0:
        number = -returncode
        known = number in set(signal.Signals)
        return f"killed by {signal.Signals(number).name if known else f'signal {number}'}"
    if returncode >= 0xC0000000:  # noqa: PLR2004 - explained above
        return f"crashed with status {returncode:#x}"
    return None
