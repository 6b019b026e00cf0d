"""Where does speculative decoding help? Best speedup by device and size of the target."""

from __future__ import annotations

import altair as alt

from pipeline.site.charts.heat import COLUMNS, heat
from pipeline.site.charts.model import Definition, Row
from pipeline.site.charts.words import speedup
from schemas.vocabulary import say


def picture(rows: list[Row]) -> alt.TopLevelMixin:
    return heat(rows, line_title=None)


def takeaway(rows: list[Row]) -> str:
    """Best case and losses in one sentence, as prominently as each other."""
    measured = [row for row in rows if row["speedup"] is not None]
    tried = sum(row["cells"] for row in rows if row["cells"] is not None)
    losing = sum(row["losing_cells"] for row in rows if row["cells"] is not None)
    share = f"{losing} of {say.count(tried, 'measured setting')} clearly lost speed"
    if not measured:
        return f"No figure over these tasks yet; {share}."
    best = max(measured, key=lambda row: row["speedup"])
    where = f"{best['line_label']} with a target of {best['size_class']}"
    return f"The best case is {speedup(best)} on {where} ({best['method_label']}); {share}."


def alt_text(rows: list[Row]) -> str:
    measured = sum(row["speedup"] is not None for row in rows)
    lines = len({row["line_label"] for row in rows})
    return (
        f"Heat map of {say.count(lines, 'row')} by size of the target model:"
        f" {say.count(measured, 'square')} with the best speedup measured, the others grey."
    )


MAP = Definition(
    title="Speedup by device and model size",
    parameters={"task": "all", "tier": "measured"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
