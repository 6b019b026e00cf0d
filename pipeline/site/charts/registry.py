"""Which charts are there? The dict to add one to."""

from __future__ import annotations

from pipeline.site.charts.backends import BACKENDS
from pipeline.site.charts.break_even import BREAK_EVEN
from pipeline.site.charts.builds import BUILDS
from pipeline.site.charts.concurrency import CONCURRENCY
from pipeline.site.charts.device_map import DEVICE_MAP
from pipeline.site.charts.map import MAP
from pipeline.site.charts.methods import METHODS
from pipeline.site.charts.model import Definition
from pipeline.site.charts.predictions import PREDICTIONS
from pipeline.site.charts.published_bars import PUBLISHED_BARS
from pipeline.site.charts.submission_tasks import SUBMISSION_TASKS
from pipeline.site.charts.tasks import TASKS
from pipeline.site.charts.verification_curve import VERIFICATION_CURVE

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
