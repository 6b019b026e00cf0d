"""Compute how speedups change between engine builds, from prompts that both builds answered."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa

from estimates.intervals import CONFIDENCE, Strata, change_of_ratio

# The times per token of each prompt of one campaign, in ms, by task.
Times: TypeAlias = Mapping[str, Mapping[str, tuple[float, float]]]
CHANGES = pa.schema(
    {
        "series": pa.string(),
        "build_order": pa.int64(),
        "reference_order": pa.int64(),
        "speedup_change": pa.float64(),
        "change_low": pa.float64(),
        "change_high": pa.float64(),
    }
)


def build_changes(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the table `build_change`: for each setting, every build against an earlier build.

    A build with a lower speedup than the best earlier build is compared with that build, any other
    with the first build. Losses are therefore counted from the peak, and gains from the start.
    """
    rows = [
        row
        for _, series in groupby(connection.table("build_prompt").fetchall(), key=itemgetter(0))
        for row in _series(tuple(series))
    ]
    connection.from_arrow(pa.Table.from_pylist(rows, CHANGES)).create("build_change")


def _series(prompts: Sequence[tuple[Any, ...]]) -> Iterator[dict[str, object]]:
    speedups = {order: speedup for _, order, speedup, *_ in prompts}
    times: dict[int, dict[str, dict[str, tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for _, order, _, task, prompt, plain_tps, tps in prompts:
        times[order][task][prompt] = 1000 / plain_tps, 1000 / tps
    first, *later = sorted(speedups)
    pairs = len(speedups) * (len(speedups) - 1) / 2
    for order in later:
        best = max((each for each in speedups if each < order), key=lambda each: speedups[each])
        reference = best if speedups[order] < speedups[best] else first
        common = _common(times[reference], times[order])
        if common is not None:
            change, within = change_of_ratio(*common, 1 - (1 - CONFIDENCE) / pairs)
            yield {
                "series": prompts[0][0],
                "build_order": order,
                "reference_order": reference,
                "speedup_change": change,
                "change_low": within and within.low,
                "change_high": within and within.high,
            }


def _common(base: Times, head: Times) -> tuple[Strata, Strata] | None:
    """Each build's times on the prompts that both builds answered; `None` without such prompts."""
    shared = [
        (task, names) for task in base if (names := sorted(base[task].keys() & head[task].keys()))
    ]
    if not shared:
        return None
    strata = [
        [[own[task][name] for name in names] for task, names in shared] for own in (base, head)
    ]
    return strata[0], strata[1]
