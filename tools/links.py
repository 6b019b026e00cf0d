"""Check that everything a built site refers to exists: `python -m tools.links build/site`.

The program reads pages, style sheets, feeds, the search index and the attributes that name files
for scripts. A second argument is a file with addresses that must resolve.
"""

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

PLACES = ("href", "src", "xlink:href", "poster")
# Attributes with an address that our scripts load, relative to the page.
LOADED = ("data-spec", "data-bundle", "data-cells", "data-folder", "data-root")
# Attributes that name the id of an element on the same page.
NAMED = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "data-filters")
IN_CSS = re.compile(r"""url\(["']?([^"')]+)""")
ATOM = "{http://www.w3.org/2005/Atom}"
# Labels of the theme: its drawer, its search, and the table of contents if a page hides it.
OF_THE_THEME = {"__drawer", "__search", "__toc"}


class Reader(HTMLParser):
    """The tags of a page, its ids and everything that it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.named: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        values = {name: value for name, value in attrs if value}
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values[name] for name in (*PLACES, *LOADED) if name in values]
        self.links += [part.split()[0] for part in values.get("srcset", "").split(",") if part]
        self.named += [each for name in NAMED for each in values.get(name, "").split()]


def main(site: Path, stored: Path | None = None) -> int:
    """Print every broken link; return 1 if there is one. The addresses in `stored` must resolve."""
    found = [(place, link) for place, link in broken_links(site) if not urlsplit(link).scheme]
    for place, link in (*found, *unnamed(site)):
        sys.stdout.write(f"{place} refers to {link}, which does not exist\n")
    gone = [] if stored is None else unresolved(site, stored.read_text("utf-8").split())
    for address in gone:
        sys.stdout.write(f"{address} was an address of the site and no longer exists\n")
    return 1 if found or unnamed(site) or gone else 0


def unresolved(site: Path, stored: Iterable[str]) -> list[str]:
    """Return the addresses without a file; a folder needs an `index.html`.

    A device or a model has no page once all results about it have been withdrawn.
    """
    ended = {*_ended(site)}
    return [
        address
        for address in stored
        if address not in ended
        and not (site / address / ("index.html" if address.endswith("/") else "")).is_file()
    ]


def _ended(site: Path) -> Iterator[str]:
    """Yield the addresses of the devices and models of results that no longer count."""
    path = site / "data" / "estimates.csv"
    with path.open(encoding="utf-8", newline="") as file:
        ended = [row for row in csv.DictReader(file) if row["counted"] == "false"]
    for kind, column in (("devices", "device"), ("models", "target")):
        yield from (f"{kind}/{row[column]}/" for row in ended)


def pages(site: Path) -> dict[Path, Reader]:
    """Read every page of a site; an unchanged file is read only once."""
    return {path: _page(path, path.stat().st_mtime_ns) for path in site.rglob("index.html")}


@cache
def _page(path: Path, _changed: int) -> Reader:
    return Reader(path.read_text("utf-8"))


def broken_links(site: Path) -> list[tuple[str, str]]:
    """Return each broken reference: its file, and the missing target."""
    site = site.resolve()  # targets of links are compared with the paths of pages
    known = pages(site)
    files = {path.as_posix() for path in site.rglob("*")}
    return [
        (place.relative_to(site).as_posix(), link)
        for place, link in _references(site, known)
        if not _leads_somewhere(place, link, known, files)
    ]


def _references(site: Path, known: dict[Path, Reader]) -> Iterator[tuple[Path, str]]:
    for path, page in known.items():
        yield from ((path, link) for link in page.links)
    for path in site.rglob("*.css"):
        yield from ((path, link) for link in IN_CSS.findall(path.read_text("utf-8")))
    for path in site.glob("*.xml"):
        links = ET.parse(path).iter(f"{ATOM}link")  # noqa: S314 - our own file
        yield from ((path, link.attrib["href"]) for link in links)
    found = json.loads((site / "search" / "search_index.json").read_bytes())["docs"]
    yield from ((site / "index.html", each["location"]) for each in found)
    for path in site.glob("assets/explore/*.json"):
        facets = json.loads(path.read_bytes())["facets"].values()
        yield from ((site / "index.html", at) for each in facets for at in each.get("pages", ()))


def _leads_somewhere(place: Path, link: str, known: dict[Path, Reader], there: set[str]) -> bool:
    """Check whether a link leads to a file in `there`, or to another host by https."""
    parts = urlsplit(link)
    if parts.scheme == "data":
        return True
    if parts.scheme or parts.netloc:
        return parts.scheme == "https"
    target = normpath(f"{place.parent}/{unquote(parts.path)}") if parts.path else place.as_posix()
    if f"{target}/index.html" in there:
        target += "/index.html"
    if target not in there or (not parts.path.endswith("/") and Path(target).is_dir()):
        return False
    page = known.get(Path(target)) if parts.fragment else None
    return page is None or parts.fragment in page.ids


def unnamed(site: Path) -> list[tuple[str, str]]:
    """Return (page, id) for each id that a page refers to but lacks, or defines twice."""
    wrong = []
    site = site.resolve()
    for path, page in pages(site).items():
        at = path.relative_to(site).as_posix()
        ids = {*page.ids, *OF_THE_THEME}
        wrong += [(at, name) for name in page.named if name not in ids]
        wrong += [(at, name) for name in set(page.ids) if page.ids.count(name) > 1]
    return wrong


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:3])))
