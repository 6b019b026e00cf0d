"""Write the caption of each chart: its main findings, in a few sentences."""

import math
from collections.abc import Callable, Mapping
from itertools import groupby
from operator import itemgetter

from pipeline.site.charts.theme import Row
from pipeline.site.tally import Figure, tally
from schemas.vocabulary.say import count, listed, speedup, times


def whole_map(rows: list[Row]) -> str:
    """Count the squares of the map that are above 1, with backend and task set to "any"."""
    shown = [row for row in rows if (row["choice"], row["task_label"]) == ("any", "any")]
    above = sum(row["speedup"] > 1 for row in shown)
    pairs = f"{count(len(shown), 'pair')} of device and model size"
    if len(shown) < FEWEST:
        return f"{pairs}: too few to summarize."
    return f"The typical speedup is above 1× on {above} of {pairs}."  # noqa: RUF001 - the multiplication sign is meant


def tasks(rows: list[Row]) -> str:
    """The tasks on which the same setting gains most and least, in the best tier."""
    best, *others = (group[0] for group in _groups(rows, "line_label"))
    last = ([best, *(row for row in others if row["tier"] == best["tier"])])[-1]
    if best is last:
        return (
            f"On {best['task_label']}, a setting gains {times(best['typical'])} its own mean over"
            " tasks."
        )
    return (
        f"The same setting gains most on {best['task_label']}, {times(best['typical'])} its own"
        f" mean over tasks, and least on {last['task_label']}, {times(last['typical'])}"
        f" ({best['tier']})."
    )


def methods(rows: list[Row]) -> str:
    """Count faster and slower pairs of the methods that have the most, as the home page does."""
    by_method = sorted(rows, key=itemgetter("method_label"))
    groups = sorted(_groups(by_method, "method_label"), key=lambda group: -len(group))
    return f"{'; '.join(map(_tally, groups[:MOST_NAMED]))}."


def _tally(group: list[Row]) -> str:
    figures = [Figure(*(row[name] for name in Figure._fields)) for row in group]
    return f"{group[0]['method_label']}: {tally(figures, 'pair')}"


def depths(rows: list[Row]) -> str:
    """Count the pairs for which each depth is best; with one pair, explain the choice."""
    best = [row for row in rows if row["best"]]
    if not best:
        return (
            "The whole request is clearly slower at every depth, so no depth is marked as the best."
        )
    if len(best) == 1:
        return _best_depth(best[0], rows)
    at = ", ".join(
        f"{depth} for {count(sum(row['depth'] == depth for row in best), 'pair')}"
        for depth in sorted({row["depth"] for row in best})
    )
    printed = any(row["interval_low"] is None for row in rows)
    note = " Figures without an interval give no clear order." if printed else ""
    return (
        f"{count(len(best), 'pair')} ran at several depths; the best depth, marked, is {at}."
        " The best depth has the highest lower bound, or the highest figure if no depth has an"
        f" interval.{note}"
    )


def _best_depth(best: Row, rows: list[Row]) -> str:
    """The only pair's best depth, among depths where the whole request is not clearly slower."""
    able = [str(row["depth"]) for row in rows if not row["slower_request"]]
    slower = [str(row["depth"]) for row in rows if row["slower_request"]]
    depth, figure = f"Depth {best['depth']}", f"{_figure(best)}, {best['line_label']}"
    if len(able) == 1:
        return f"{depth} is the only depth without a clearly slower whole request: {figure}."
    end = "figure" if best["interval_low"] is None else "lower bound"
    notes = [f"at depth {listed(slower)} the whole request is clearly slower"] if slower else []
    if best["verdict"] not in CLEAR:
        notes.append("the order of the depths is not clear")
    said = f"{depth} has the highest {end} of the depths {listed(able)}: {figure}"
    return f"{'; '.join((said, *notes))}."


def concurrency(rows: list[Row]) -> str:
    return _by_series(rows, "concurrency", "with more requests at once", "{} at once")


def context(rows: list[Row]) -> str:
    return _by_series(rows, "context_depth", "after a longer context", "after {} tokens")


def _by_series(rows: list[Row], column: str, when: str, at: str) -> str:
    """The number of series in which the speedup falls, and the largest change as an example."""
    ends = [(found[0], found[-1]) for found in _groups(rows, "series")]
    fell = sum(last["speedup"] < first["speedup"] for first, last in ends)
    clearly = sum(_is_below(last, first) for first, last in ends)
    first, last = max(ends, key=lambda pair: abs(math.log(pair[1]["speedup"] / pair[0]["speedup"])))
    one, other = (at.format(f"{row[column]:,}") for row in (first, last))
    return (
        f"The speedup falls {when} in {fell or 'none'} of {len(ends)} series, clearly in"
        f" {clearly or 'none'}. For example"
        f" {first['arm_label']} on {first['place_label']}: from {times(first['speedup'])} {one} to"
        f" {times(last['speedup'])} {other}."
    )


def _is_below(row: Row, other: Row) -> bool:
    """Whether one row's interval is entirely below another row's; false if either has none."""
    high, low = row["interval_high"], other["interval_low"]
    return high is not None and low is not None and bool(high < low)


def builds(rows: list[Row]) -> str:
    steps = [row for row in rows if row["step_label"] != "none"]
    settings = count(len({row["line"] for row in rows}), "setting")
    if not steps:
        return f"In {settings}, no speedup clearly differs from that of the first or best build."
    slower = [row for row in steps if row["step_label"] == "slower"]
    found = f"{count(len(steps), 'change')} detected in {settings}"
    if not slower:
        return f"{found}, none of them slower."
    worst = min(slower, key=lambda row: row["speedup_change"])
    return (
        f"{found}, {len(slower)} of them slower: at worst {times(worst['speedup_change'])} with"
        f" {worst['engine_build']}."
    )


def break_even(rows: list[Row]) -> str:
    won = sum(row["tokens_per_round"] > row["round_cost"] for row in rows)
    lost = sum(bool(row["cannot_win"]) for row in rows)
    return (
        f"{won} of {count(len(rows), 'cell')} yield more tokens per round than the round"
        f" costs; in {lost or 'none'} of the {len(rows)}, a round costs more than even a fully"
        " accepted draft returns."
        f"{_part(rows, 'cells')}"
    )


def _part(rows: list[Row], column: str) -> str:
    """A sentence such as "The chart shows 60 of 90 cells."; empty if the chart shows all."""
    shown, known = len(rows), rows[0][column]
    return "" if known <= shown else f" The chart shows {shown} of {known} {column}."


FEWEST, MOST_NAMED = 3, 3  # the number of dots that a caption names
CLEAR = ("helps", "hurts")
CAPTIONS: Mapping[str, Callable[[list[Row]], str]] = {
    caption.__name__: caption
    for caption in (
        *(whole_map, tasks, methods, depths, concurrency),
        *(context, builds, break_even),
    )
}


def _figure(row: Row) -> str:
    """A speedup with its interval, and with the whole request's speedup if the chart has one."""
    text = speedup(row["speedup"], row["interval_low"], row["interval_high"])
    whole = [row[name] for name in ("whole_request", "stated_request") if name in row]
    if not whole:
        return text
    known = "whole request not known" if whole[0] is None else f"whole request {times(whole[0])}"
    return f"{text} ({known})"


def _groups(rows: list[Row], column: str) -> list[list[Row]]:
    """Group consecutive rows that have the same value in a column."""
    return [list(group) for _, group in groupby(rows, key=lambda row: row[column])]
