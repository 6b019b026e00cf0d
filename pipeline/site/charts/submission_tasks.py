"""What did this submission find, task by task?"""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.intervals import interval_rows
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.theme import METHOD_COLOURS, NEUTRAL
from pipeline.site.charts.words import speedup
from schemas.vocabulary import say

COLUMNS = {
    "task_label": "Task",
    "arm_label": "Arm",
    "speedup": "Speedup",
    "interval_low": "from",
    "interval_high": "to",
    "verdict_label": "Verdict",
    "acceptance_rate": "Acceptance rate",
    "tokens_per_round": "Tokens per round",
    "round_cost": "Round cost R",
    "prompts": "Prompts",
    "trials": "Trials",
}
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    """Colour by method; arms of one method are told apart by shape and position."""
    method_of = {row["arm_label"]: row["method"] for row in rows}
    arms = sorted(method_of)
    return interval_rows(
        rows,
        line="task_label",
        series="arm_label",
        colours=(arms, [METHOD_COLOURS.get(method_of[arm], NEUTRAL) for arm in arms]),
        shapes=(arms, [SHAPES[index % len(SHAPES)] for index in range(len(arms))]),
        series_title="Arm",
        tooltip=COLUMNS,
    )


def takeaway(rows: list[Row]) -> str:
    """The overall figure of the best arm, or its best task when there is none over all tasks."""
    judged = [row for row in rows if row["role"] == "speculation"] or rows
    overall = [row for row in judged if row["task"] == "all"]
    best = max(overall or judged, key=lambda row: row["speedup"])
    scope = "over all tasks" if overall else f"on {best['task_label']}"
    return f"{best['arm_label']} reaches {speedup(best)} {scope}."


def alt_text(rows: list[Row]) -> str:
    tasks = len({row["task"] for row in rows})
    return f"Speedup with 95 % interval for {say.count(tasks, 'task')}, one point per arm."


SUBMISSION_TASKS = Definition(
    title="Speedup by task and arm",
    parameters={"submission": ""},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
