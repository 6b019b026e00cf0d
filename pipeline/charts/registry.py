"""Which charts are there? The dict to add one to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.charts.backends import BACKENDS
from pipeline.charts.break_even import BREAK_EVEN
from pipeline.charts.builds import BUILDS
from pipeline.charts.concurrency import CONCURRENCY
from pipeline.charts.device_map import DEVICE_MAP
from pipeline.charts.map import MAP
from pipeline.charts.methods import METHODS
from pipeline.charts.predictions import PREDICTIONS
from pipeline.charts.published_bars import PUBLISHED_BARS
from pipeline.charts.submission_tasks import SUBMISSION_TASKS
from pipeline.charts.tasks import TASKS
from pipeline.charts.verification_curve import VERIFICATION_CURVE

if TYPE_CHECKING:
    from pipeline.charts.model import Definition

CHARTS: dict[str, Definition] = {
    "map": MAP,
    "device_map": DEVICE_MAP,
    "tasks": TASKS,
    "methods": METHODS,
    "break_even": BREAK_EVEN,
    "verification_curve": VERIFICATION_CURVE,
    "backends": BACKENDS,
    "submission_tasks": SUBMISSION_TASKS,
    "published_bars": PUBLISHED_BARS,
    "predictions": PREDICTIONS,
    "builds": BUILDS,
    "concurrency": CONCURRENCY,
}
