"""How does a chart become a picture for a README or a talk? Two SVG files, light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.data.database import open_database
from pipeline.errors import UnknownChartError
from pipeline.site.charts import CHARTS, draw


def draw_pictures(names: Sequence[str], *, results: Path, output: Path) -> tuple[Path, ...]:
    """Write `<name>-light.svg` and `<name>-dark.svg` for each chart; their paths.

    Raises `UnknownChartError` for a name that is no chart, and what `open_database` raises.
    """
    for name in names:
        if name not in CHARTS:
            raise UnknownChartError(name, tuple(CHARTS))
    output.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with open_database(results) as connection:
        for name in names:
            chart = draw(connection, name)
            for scheme, svg in (("light", chart.svg), ("dark", chart.svg_dark)):
                path = output / f"{name}-{scheme}.svg"
                path.write_text(svg, encoding="utf-8")
                written.append(path)
    return tuple(written)
