"""How much memory does a server take, per device? What its log reserves, and what is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runners.server import log
from schemas.submission import DeviceMemory

if TYPE_CHECKING:
    from collections.abc import Mapping


def in_use(
    text: str, *, before_mib: Mapping[str, int], after_mib: Mapping[str, int]
) -> tuple[DeviceMemory, ...] | None:
    """Memory per device, `None` if nothing tells: the most of two figures.

    The log names the buffers that were reserved. What each device has less free than before the
    start also holds the driver's own share, but a process that ended meanwhile hides it.
    """
    reserved = {name: round(size) for name, size in log.buffers_mib(text).items()}
    gone = {
        name: free_mib - after_mib[name]
        for name, free_mib in before_mib.items()
        if name in after_mib
    }
    most = {name: max(reserved.get(name, 0), gone.get(name, 0)) for name in {*reserved, *gone}}
    return (
        tuple(DeviceMemory(device=name, peak_mib=size) for name, size in sorted(most.items()))
        or None
    )
