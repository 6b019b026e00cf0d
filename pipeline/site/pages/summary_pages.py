"""Write short forms of submissions, which replace their full pages in a large collection.

A short form has no charts and does not pass through MkDocs, which saves half a second of CPU time
and 130 KB per submission. The submissions that were measured first keep their pages, because these
pages existed before the collection grew. For each other submission, the site has plain text, and
data that the site's 404 page shows.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from html import unescape
from pathlib import Path

import duckdb
import orjson

from pipeline.collection.discover import discover
from pipeline.site.pages.model import Asset, Site, file_path, submission_address
from pipeline.site.pages.template_environment import from_template

AT_ONCE = 500  # submissions whose rows are in memory at the same time
MOST_PAGES = 200  # submissions; in a larger collection only this many have a page


def with_own_page(
    connection: duckdb.DuckDBPyConnection, most_pages: int = MOST_PAGES
) -> frozenset[str] | None:
    """The submissions that have their own page in a large collection; `None` if all have one."""
    first = connection.table("submission").order("measured_until, submission")
    names = [name for (name,) in first.select("submission").limit(most_pages + 1).fetchall()]
    return frozenset(names[:most_pages]) if len(names) > most_pages else None


def outside(
    connection: duckdb.DuckDBPyConnection, results: Path, repository: str | None
) -> Mapping[str, str]:
    """Links to the raw files that only the repository has, by the address the site would use.

    The result is empty if the site has all raw files itself, because the collection is small or the
    repository is unknown.
    """
    whole = with_own_page(connection)
    if whole is None or repository is None:
        return {}
    return {
        file_path(source.path.name): f"{repository}/blob/HEAD/results/{path.as_posix()}"
        for source in discover(results)
        if source.kind == "submission" and source.path.stem not in whole
        for path in (source.path.relative_to(results),)
    }


def raw_files(results: Path, extra: tuple[Path, ...], site: Site) -> Iterator[Asset]:
    """The raw files that the site serves itself."""
    for source in discover(results, extra):
        path = file_path(source.path.name)
        if source.kind == "submission" and path not in site.outside:
            yield Asset(path=path, data=source.path.read_bytes())


def short_forms(
    site: Site, own: Container[str], shown: Iterable[tuple[str, Mapping[str, object]]]
) -> Iterator[Asset]:
    """Yield the short form of each submission: a page if `own` has its name, else data and text."""
    for name, values in shown:
        address = submission_address(name)
        template = "leaf.html.jinja" if name in own else "leaf_main.html.jinja"
        text = from_template(template, site=site, url=site.link_from(address), **values)
        if name in own:
            yield Asset(path=f"{address}index.html", data=text.encode())
        else:
            yield Asset(path=f"{address}page.json", data=orjson.dumps({"main": text}))
            yield Asset(path=f"{address}summary.txt", data=as_text(text).encode())


# The plain text for tags of a short form; the first heading of a row begins its line.
AS_TEXT = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"<tr\b[^<>]*><th\b[^<>]*>|<(?:tr|dt)\b[^<>]*>"), "\n"),
    (re.compile(r"<(?:h1|h2|p)\b[^<>]*>"), "\n\n"),
    (re.compile(r"<t[hd]\b[^<>]*>"), " | "),
    (re.compile(r"<dd\b[^<>]*>"), ": "),
    (re.compile(r"<[^<>]*>"), ""),
)


def as_text(html: str) -> str:
    """A short form as plain text: a line for each heading, paragraph, row and term.

    The HTML is from our own template, so no text or attribute in it has a bare `<` or `>`.
    """
    for tag, text in AS_TEXT:
        html = tag.sub(text, html)
    lines = "\n".join(" ".join(line.split()) for line in unescape(html).split("\n")).strip()
    return re.sub(r"\n{3,}", "\n\n", lines) + "\n"
