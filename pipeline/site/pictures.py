"""Draw the map and charts as pictures for a README, for light and for dark pages."""

import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from pipeline.data.database import open_database
from pipeline.errors import UnknownChartError
from pipeline.site.charts import definitions, draw
from pipeline.site.charts.theme import FONT, Scheme
from pipeline.site.pages.environment import environment
from pipeline.site.pages.home import drawing, map_choices
from pipeline.site.pages.map import opening

MAP = "map"
STYLES = Path(__file__).resolve().parents[2] / "site_src" / "assets" / "stylesheets"
SCHEMES: dict[Scheme, str] = {"light": "default", "dark": "slate"}
MEDIA = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
LINK = re.compile(r'<(/?)a\b(?: href="[^"]*")?')


def draw_pictures(names: Sequence[str], *, results: Path, output: Path) -> tuple[Path, ...]:
    """Write `<name>-light.svg` and `<name>-dark.svg` for the map or a chart each; their paths.

    Raises `UnknownChartError` for a name that is no chart, and what `open_database` raises.
    """
    known = (MAP, *definitions())
    for name in names:
        if name not in known:
            raise UnknownChartError(name, known)
    output.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with open_database(results) as connection:
        for name in names:
            for scheme, svg in _pictures(connection, name).items():
                path = output / f"{name}-{scheme}.svg"
                path.write_text(svg, encoding="utf-8")
                written.append(path)
    return tuple(written)


def _pictures(connection: duckdb.DuckDBPyConnection, name: str) -> dict[Scheme, str]:
    if name != MAP:
        chart = draw(connection, name)
        return {"light": chart.svg, "dark": chart.svg_dark}
    wide = drawing(opening(map_choices(connection)))
    svg = getattr(environment().get_template("map.html.jinja").make_module(), "svg")  # noqa: B009 - macros are not in the type
    drawn = LINK.sub(r"<\1g", str(svg(wide, str)).strip())  # links lead nowhere from a README
    head, _, rest = drawn.partition(">")
    return {scheme: f"{head}>\n<style>{map_style(scheme)}</style>{rest}\n" for scheme in SCHEMES}


def map_style(scheme: Scheme) -> str:
    """The rules of the site's style sheets that draw a map on a page of this scheme."""
    sheets = "".join(
        MEDIA.sub("", (STYLES / name).read_text("utf-8")) for name in ("draftmap.css", "map.css")
    )
    rules = [(selector.strip(), body) for selector, body in RULE.findall(sheets)]
    colours = "".join(
        body
        for selector, body in rules
        if selector == f'[data-md-color-scheme="{SCHEMES[scheme]}"]'
    )
    shapes = "".join(
        f"{selector} {{{body}}}\n"
        for selector, body in rules
        if selector.startswith(".dm-map") and "narrow" not in selector and "-plot" not in selector
    )
    return f".dm-map {{{colours} --md-text-font-family: {FONT};\n}}\n{shapes}"
