"""Find the settings that clearly lose: the section *When to switch it off* of a page."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from pipeline.site.rows import Row, grouped

SETTING = (
    *("device", "device_label", "backend", "engine_label", "target", "target_label"),
    *("quantisation", "method", "depth", "draft_label", "tier"),
)


class ClearCases(NamedTuple):
    """One setting with its clear gains and losses."""

    setting: Row
    gains: tuple[Row, ...]
    loses: tuple[Row, ...]
    streams_from: int | None
    context_from: int | None


def clear_cases(rows: Iterable[Row]) -> tuple[ClearCases, ...]:
    """Every setting with a clear result; a page shows those that lose somewhere."""
    return tuple(
        ClearCases(
            setting=own[0],
            gains=tuple(row for row in own if row.effect == "gains"),
            loses=tuple(row for row in own if row.effect == "loses"),
            streams_from=streams_from(own),
            context_from=context_from(own),
        )
        for own in grouped(rows, attrgetter(*SETTING)).values()
    )


def streams_from(rows: Sequence[Row]) -> int | None:
    """The lowest concurrency above 1 from which all clear results are losses, else `None`.

    Only results without a context depth count.
    """
    return _from([(row.concurrency, row.effect) for row in rows if not row.context_depth], 1)


def context_from(rows: Sequence[Row]) -> int | None:
    """The shortest context in tokens from which all clear results are losses, else `None`.

    Only results of single requests count, and the context must be longer than 0 tokens.
    """
    return _from([(row.context_depth or 0, row.effect) for row in rows if row.concurrency == 1], 0)


def _from(cases: Iterable[tuple[int, str]], least: int) -> int | None:
    """The smallest amount with a loss, above `least` and every amount with a gain; else `None`."""
    cases = tuple(cases)
    gained = max((amount for amount, effect in cases if effect == "gains"), default=least)
    lost = [amount for amount, effect in cases if effect == "loses" and amount > gained]
    return min(lost, default=None)
