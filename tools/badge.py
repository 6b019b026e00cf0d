"""Draw the README's badges: the counts of data.

The badges are files in the repository, so that the README loads nothing from another host.
"""

from collections.abc import Iterator
from html import escape

import duckdb

from pipeline.site.rows import read
from schemas.vocabulary import say

HEIGHT, LETTER, PAD = 20, 6.6, 8
LABEL, COUNT = "#515c69", "#5b6470"  # white text has a contrast of at least 4.5 on both


def of_site(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each badge."""
    (so_far,) = read(connection, "measured_so_far")
    devices = say.count(len(so_far.devices), "device")
    message = f"{say.count(so_far.submissions, 'file')}, {devices}"
    yield "measured", svg("measured", message)
    (printed,) = connection.sql(
        "select count(*), count(distinct source) from published_row"
    ).fetchall()
    message = f"{printed[0]:,} rows of {say.count(printed[1], 'source')}"
    yield "published", svg("published by others", message)


def svg(label: str, message: str) -> str:
    """Draw a badge as SVG, with its words as text."""
    left, right = (round(len(text) * LETTER) + 2 * PAD for text in (label, message))
    size = f'width="{left + right}" height="{HEIGHT}"'
    font = 'font-family="sans-serif" font-size="11" text-anchor="middle"'
    words = escape(f"{label}: {message}", quote=True)
    middle = (left / 2, left + right / 2)
    texts = "".join(
        f'<text x="{x:g}" y="14">{escape(text)}</text>'
        for x, text in zip(middle, (label, message), strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{words}">'
        f'<title>{words}</title><rect {size} rx="3" fill="{LABEL}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" rx="3" fill="{COUNT}"/>'
        f'<g fill="#fff" {font}>{texts}</g></svg>\n'
    )
