"""What does the report say about several requests in flight? One table, a row per arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from estimates.wording import interval_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from estimates.model import Throughput

TITLE = "Requests at once: what one of them gets, and what the machine answers in total"
LEGEND = (
    "tokens/s; the total counts whole passes, prompt processing included, and [95%] is over "
    "blocks. A draft takes work that the other requests could have used."
)


def table(found: Sequence[Throughput]) -> Table:
    """From few requests at once to many; the baseline of each number comes first."""
    drawn = Table(
        box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim"
    )
    drawn.add_column("at once", no_wrap=True, justify="right")
    drawn.add_column("arm", no_wrap=True)
    for heading in ("one stream", "in total"):
        drawn.add_column(heading, no_wrap=True, justify="right")
    drawn.add_column("total speedup [95%]", no_wrap=True)
    for each in sorted(found, key=lambda item: item.concurrency):
        drawn.add_row(
            str(each.concurrency),
            each.arm,
            f"{each.stream_tps:.1f}",
            f"{each.total_tps:.1f}",
            _speedup(each),
        )
    return drawn


def _speedup(found: Throughput) -> str:
    if found.total_speedup is None:
        return ""
    bounds = interval_text(found.interval.low, found.interval.high) if found.interval else ""
    return f"{found.total_speedup:.2f} {bounds}".rstrip()
