"""Say in one sentence what the figures of a chart say."""

import math
from collections.abc import Callable, Mapping
from itertools import groupby, permutations
from operator import itemgetter
from statistics import median

from pipeline.site.charts.axes import cut_off
from pipeline.site.charts.theme import Row
from schemas.vocabulary import VERDICTS
from schemas.vocabulary.say import count, listed, percent, speedup, times


def tasks(rows: list[Row]) -> str:
    """The highest clear gain and the lowest clear loss."""
    single = [row for row in rows if row["task"] != "all"] or rows
    ends = _clear_ends(
        single,
        lambda row: f"{_figure(row)}, {row['method_label']} on {row['task_label']}",
        scope=" on a single task" if single is not rows else "",
    )
    return f"{ends}{' A line that reaches the edge goes on beyond it.' if cut_off(rows) else ''}"


def backends(rows: list[Row]) -> str:
    """Where the choice of backend changes most, of the settings where both are clear."""
    groups = _groups(rows, "line_label")
    settings = rows[0]["settings"]
    part = f" Shown are the {len(groups)} of {settings} settings in which they differ most."
    more = part if settings > len(groups) else ""
    clear = [[row for row in group if row["verdict"] in CLEAR] for group in groups]
    pairs = [(min(found, key=_speedup), max(found, key=_speedup)) for found in clear if found]
    apart = [(low, high) for low, high in pairs if _apart(low, high)]
    if not apart:
        unclear = any(_apart(*pair) for group in groups for pair in permutations(group, 2))
        words = (
            "No backend is ranked: where two intervals lie apart, a verdict is still uncertain."
            if unclear
            else "In no setting do the intervals of two backends lie clearly apart."
        )
        return f"{words}{more}"
    low, high = max(apart, key=lambda pair: pair[1]["interval_low"] / pair[0]["interval_high"])
    return (
        f"The backend clearly matters most for {high['line_label']}: {times(high['speedup'])} with"
        f" {high['backend']}, {times(low['speedup'])} with {low['backend']}.{more}"
    )


def submission_tasks(rows: list[Row]) -> str:
    """The best arm whose figure is clear: over all tasks, or task by task without such a figure."""
    judged = [row for row in rows if row["role"] == "speculation"] or rows
    overall = [row for row in judged if row["task"] == "all"]
    if overall:
        found = _clear_ends(
            overall, lambda row: f"{_figure(row)}, {row['arm_label']}", scope=" over all tasks"
        )
        return found.replace("The ", "Over all tasks, the ", 1)
    return _clear_ends(
        judged,
        lambda row: f"{_figure(row)}, {row['arm_label']} on {row['task_label']}",
        scope=" on any single task",
    )


def methods(rows: list[Row]) -> str:
    return _clear_ends(
        rows,
        lambda row: (
            f"{_figure(row)}, {row['method_label']} at depth {row['depth']}"
            f" over {count(row['submissions'], 'submission')}"
        ),
    )


def depths(rows: list[Row]) -> str:
    """The best depth of each pair, as far as intervals support it."""
    best = [row for row in rows if row["best"]]
    if not best:
        return "With every depth the whole request is clearly slower: none is marked as the best."
    if len(best) == 1:
        tried = [str(row["depth"]) for row in rows]
        clear = best[0]["verdict"] in CLEAR
        return (
            f"Depth {best[0]['depth']} has the highest {'lower bound' if clear else 'figure'}"
            f" of the depths {listed(tried)}: {_figure(best[0])}, {best[0]['line_label']}"
            f"{'' if clear else '; that one depth is faster than another is not clear'}."
        )
    at = ", ".join(
        f"{depth} in {sum(row['depth'] == depth for row in best)}"
        for depth in sorted({row["depth"] for row in best})
    )
    printed = any(row["interval_low"] is None for row in rows)
    note = " Figures without an interval give no clear order." if printed else ""
    return (
        f"{count(len(best), 'pair')} ran at several depths; the best depth, marked, is {at}."
        f" Best is the highest lower bound, or figure where there is no interval.{note}"
    )


def round_costs(rows: list[Row]) -> str:
    """From the cheapest round to the dearest, and what that means for acceptance."""
    least, most = (end(rows, key=itemgetter("round_cost")) for end in (min, max))

    def printed(row: Row) -> str:
        return f"{row['round_cost']:.2f} plain tokens at depth {row['depth']}"

    if least is most:
        return f"A round costs {printed(least)} ({least['line_label']}); what yields more wins."
    return (
        f"A round costs from {printed(least)} ({least['line_label']}) to {printed(most)}"
        f" ({most['line_label']}); a draft that yields more tokens a round than that wins."
    )


def concurrency(rows: list[Row]) -> str:
    """How often more requests at once cost speedup, as far as intervals support it."""
    ends = [(found[0], found[-1]) for found in _groups(rows, "series")]
    fell = [pair for pair in ends if _apart(pair[1], pair[0])]
    lost = sum((one["verdict"], many["verdict"]) == ("helps", "hurts") for one, many in ends)
    one, many = max(fell or ends, key=lambda pair: pair[0]["speedup"] / pair[1]["speedup"])
    change = (
        f"from {times(one['speedup'])} with {count(one['concurrency'], 'request')} at once"
        f" to {times(many['speedup'])} with {many['concurrency']}"
    )
    if len(ends) == 1:
        overlap = "" if _apart(one, many) or _apart(many, one) else "; the intervals overlap"
        return f"The speedup of one stream goes {change}{overlap}."
    return (
        f"In {len(fell) or 'none'} of {len(ends)} series the speedup is clearly smaller with more"
        f" requests at once, and in {lost or 'none'} of them a clear gain becomes a clear loss"
        f"{f'; the largest clear fall goes {change}' if fell else ''}."
    )


def context_cost(rows: list[Row]) -> str:
    return _by_context(rows, "round_cost", "A round costs", lambda value: f"{value:.2f} steps")


def context_acceptance(rows: list[Row]) -> str:
    return _by_context(rows, "acceptance_rate", "The acceptance rate is", percent)


def _by_context(rows: list[Row], column: str, what: str, printed: Callable[[float], str]) -> str:
    """How a figure changes from the shortest context to the longest."""
    ends = [(found[0], found[-1]) for found in _groups(rows, "series")]
    short, long = max(ends, key=lambda pair: abs(math.log(pair[1][column] / pair[0][column])))
    change = (
        f"{what} {printed(short[column])} after {short['context_depth']:,} tokens of context and"
        f" {printed(long[column])} after {long['context_depth']:,}"
    )
    if len(ends) == 1:
        return f"{change} ({short['arm_label']})."
    rose = sum(long[column] > short[column] for short, long in ends)
    return (
        f"In {rose or 'none'} of {len(ends)} series the figure is higher after the longest context;"
        f" it changes most for {short['arm_label']}: {change[0].lower()}{change[1:]}."
    )


def builds(rows: list[Row]) -> str:
    steps = [row for row in rows if row["step_label"] != "none"]
    settings = count(len({row["line"] for row in rows}), "setting")
    if not steps:
        return f"No speedup clearly differs from that of the first or best build, in {settings}."
    slower = [row for row in steps if row["step_label"] == "slower"]
    worst = min(slower or steps, key=lambda row: row["speedup_change"])
    return (
        f"{count(len(steps), 'change')} detected in {settings}, {len(slower) or 'none'} of them"
        f" slower{_at_worst(worst) if slower else ''}."
    )


def _at_worst(row: Row) -> str:
    return f": at worst {times(row['speedup_change'])} with {row['engine_build']}"


def break_even(rows: list[Row]) -> str:
    won = sum(row["margin_tokens"] > 0 for row in rows)
    lost = sum(bool(row["cannot_win"]) for row in rows)
    return (
        f"{won} of {count(len(rows), 'cell')} yield more tokens a round than the round"
        f" costs; in {lost or 'none'} of them a round costs more than even a fully accepted draft"
        " returns."
        f"{_part(rows, 'cells')}"
    )


def predictions(rows: list[Row]) -> str:
    parts = []
    for kind in ("Other machines", "Its own probes"):
        errors = [row["off_by"] for row in rows if row["kind"] == kind]
        if errors:
            number = count(len(errors), "prediction")
            parts.append(f"{kind}: {number}, off by {percent(median(errors), 1)} in the median")
    return ". ".join(parts) + "."


def _part(rows: list[Row], column: str, shown: int | None = None) -> str:
    """How many of all are shown, where that is a part."""
    shown = len(rows) if shown is None else shown
    return "" if rows[0][column] <= shown else f" Shown are {shown} of {rows[0][column]}."


def verification_curve(rows: list[Row]) -> str:
    """The cheapest and the dearest curve at their greatest widths."""
    last = {row["curve_label"]: row for row in rows}  # rows come by ascending width
    cheapest = min(last.values(), key=lambda row: row["step_ratio"] / row["width"])
    dearest = max(last.values(), key=lambda row: row["step_ratio"] / row["width"])
    if cheapest is dearest:
        return f"{_step(cheapest)} with {cheapest['curve_label']}."
    return (
        f"The flattest curve is that of {cheapest['curve_label']}: {_step(cheapest)}."
        f" The steepest is that of {dearest['curve_label']}: {_step(dearest)}."
        f"{_part(rows, 'curves', len(last))}"
    )


def published_bars(rows: list[Row]) -> str:
    sources = len({row["source"] for row in rows})
    low = min(row["speedup"] for row in rows)
    high = max(row["high"] or row["speedup"] for row in rows)
    slower = sum((row["high"] or row["speedup"]) < 1 for row in rows)
    where = "" if sources == 1 else f" in {count(sources, 'source')}"
    return (
        f"{count(len(rows), 'printed speedup')}{where}, from {times(low)} to {times(high)};"
        f" {slower or 'none'} of them {'is' if slower == 1 else 'are'} below 1."
    )


CLEAR = ("helps", "hurts")
CAPTIONS: Mapping[str, Callable[[list[Row]], str]] = {
    caption.__name__: caption
    for caption in (
        *(tasks, backends, submission_tasks, methods, depths, round_costs, concurrency),
        *(context_cost, context_acceptance, builds, break_even, predictions),
        *(verification_curve, published_bars),
    )
}


def _clear_ends(rows: list[Row], words: Callable[[Row], str], scope: str = "") -> str:
    """The highest gain and the lowest loss that their intervals support, and how many are none."""
    helps = [row for row in rows if row["verdict"] == "helps"]
    hurts = [row for row in rows if row["verdict"] == "hurts"]
    gain = f"the highest clear gain is {words(max(helps, key=_speedup))}" if helps else ""
    loss = f"the lowest clear loss is {words(min(hurts, key=_speedup))}" if hurts else ""
    slower = [row for row in rows if row["verdict"] == "slower-in-all"]
    name = VERDICTS["slower-in-all"].word
    whole = f"{name}: {words(max(slower, key=_speedup))}" if slower else ""
    found = (
        "; ".join(filter(None, (gain, loss, whole)))
        or f"no figure{scope} is clearly above or below 1"
    )
    return f"{found[:1].upper()}{found[1:]}."


def _apart(low: Row, high: Row) -> bool:
    """Whether the whole interval of one figure lies below that of another."""
    ends = (low["interval_high"], high["interval_low"])
    return None not in ends and ends[0] < ends[1]


def _speedup(row: Row) -> float:
    return float(row["speedup"])


def _figure(row: Row) -> str:
    """A speedup with its interval, and the whole request where the chart has it."""
    text = speedup(row["speedup"], row["interval_low"], row["interval_high"])
    whole = [row[name] for name in ("whole_request", "stated_request") if name in row]
    if not whole:
        return text
    known = "prompt time not recorded" if whole[0] is None else f"whole request {times(whole[0])}"
    return f"{text} ({known})"


def _groups(rows: list[Row], column: str) -> list[list[Row]]:
    """Rows that follow each other with one value in a column."""
    return [list(group) for _, group in groupby(rows, key=lambda row: row[column])]


def _step(row: Row) -> str:
    return f"{row['width']} tokens in one step take {row['step_ratio']:.2f} times as long as one"
