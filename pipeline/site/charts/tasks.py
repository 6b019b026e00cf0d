"""Which tasks gain, and by which method?"""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.intervals import cut_off, interval_rows
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import method_scales
from pipeline.site.charts.words import speedup
from schemas.vocabulary import say

COLUMNS = {
    "task_label": "Task",
    "method_label": "Method",
    "speedup": "Speedup",
    "interval_low": "from",
    "interval_high": "to",
    "interval_label": "Interval",
    "verdict_label": "Verdict",
    "worst_speedup": "Lowest",
    "best_speedup": "Highest",
    "acceptance_rate": "Acceptance rate",
    "tokens_per_round": "Tokens per round",
    "submissions": "Submissions",
    "rigs": "Rigs",
    "contributors": "Contributors",
}


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    colours, shapes = method_scales(rows)
    return interval_rows(
        rows,
        line="task_label",
        series="method_label",
        colours=colours,
        shapes=shapes,
        series_title="Method",
        tooltip=COLUMNS,
    )


def takeaway(rows: list[Row]) -> str:
    """The highest median and the lowest, whether they are clear or not."""
    single = [row for row in rows if row["task"] != "all"] or rows
    best = max(single, key=lambda row: row["speedup"])
    worst = min(single, key=lambda row: row["speedup"])
    return (
        f"The highest median is {speedup(best)}, {best['method_label']} on"
        f" {best['task_label']}; the lowest is {speedup(worst)},"
        f" {worst['method_label']} on {worst['task_label']}."
        f"{' A line that reaches the edge goes on beyond it.' if cut_off(rows) else ''}"
    )


def alt_text(rows: list[Row]) -> str:
    tasks = len({row["task"] for row in rows})
    return f"Speedup with 95 % interval for {say.count(tasks, 'task')}, one point per method."


TASKS = Definition(
    title="Speedup by task and method",
    parameters={"tier": "measured"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
