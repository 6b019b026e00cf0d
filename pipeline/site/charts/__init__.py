"""Which charts are there, and how does a page get one? `draw(connection, name, **parameters)`.

    map                 task, tier          best speedup by device and size class
    device_map          device, tier        the map row of one device, by task
    tasks               tier                speedup with interval by task and method
    methods             task, tier          speedup by method and depth
    break_even          task, tier          tokens per round against round cost
    verification_curve  device              cost of a target step by width ('all': every device)
    backends            task, tier          backends of one device side by side
    submission_tasks    submission          speedup with interval by task and arm of one submission
    published_bars      source              published speedups ('all': every source)
    predictions                             measured against predicted speedups
    builds              least               speedup over engine builds on one machine
    concurrency         task, tier          speedup by requests in flight at once

Parameters are words, bound into the query of the same name (`charts/name.sql`); `tier` defaults to
'measured', `task`, `device` and `source` to 'all'. Unknown names raise `KeyError`.
"""

from pipeline.site.charts.draw import draw
from pipeline.site.charts.model import Chart, Table
from pipeline.site.charts.registry import CHARTS

__all__ = ["CHARTS", "Chart", "Table", "draw"]
