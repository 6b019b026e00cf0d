"""What does speculation do on this device? Best speedup by task and size of the target."""

from __future__ import annotations

from pipeline.site.charts.heat import COLUMNS
from pipeline.site.charts.map import alt_text, picture, takeaway
from pipeline.site.charts.model import Definition

DEVICE_MAP = Definition(
    title="Speedup on this device by task",
    parameters={"device": "all", "tier": "measured"},
    picture=picture,
    columns=COLUMNS,
    takeaway=takeaway,
    alt=alt_text,
)
