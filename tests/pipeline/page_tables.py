"""The tables that a built site shows, by page and name, as plain text."""

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

TABLE = re.compile(
    r'<div class="dm-scroll[^>]*aria-label="(?P<name>[^"]*)"[^>]*>\s*(?P<table><table.*?</table>)',
    re.DOTALL,
)
CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", re.DOTALL)
INLINE = re.compile(r"</?(a|b|code|em|span|strong|tspan)\b[^>]*>")
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """One table of one page."""

    page: str
    name: str
    headings: tuple[str, ...]
    rows: tuple[dict[str, str], ...]


def text_of(html: str) -> str:
    """HTML as a reader sees it: no tags, white space as single blanks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", INLINE.sub("", html))).split())


def tables(site: Path) -> dict[tuple[str, str], PageTable]:
    """Every table of a site; tables with the same name on a page are merged."""
    found: dict[tuple[str, str], PageTable] = {}
    for path in sorted(site.rglob("index.html")):
        page = path.relative_to(site).as_posix().removesuffix("index.html")
        for match in TABLE.finditer(path.read_text("utf-8")):
            name = unescape(match["name"])
            table = _table(page, name, match["table"])
            same = found.get((page, name))
            rows = (*same.rows, *table.rows) if same else table.rows
            found[page, name] = PageTable(page=page, name=name, headings=table.headings, rows=rows)
    return found


def _table(page: str, name: str, html: str) -> PageTable:
    head, _, body = html.partition("</thead>")
    headings = tuple(text_of(inner) for inner in CELL.findall(head))
    rows = [[text_of(inner) for inner in CELL.findall(row)] for row in ROW.findall(body)]
    shown = tuple(dict(zip(headings, row, strict=True)) for row in rows)
    return PageTable(page=page, name=name, headings=headings, rows=shown)
