"""Weigh a built site as a browser does: every kind of page, before and after it is scrolled.

`python -m tests.bench.weights build/site` serves the site as a static host does, compressed, opens
one page of each kind in Chromium and adds up the bytes of every response, those of workers too.
Beside them: how far the layout shifted, and how many nodes the map has. `--rigs 60 1000` builds
synthetic sites of that size and weighs them; exit code 1 says that a budget is exceeded.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from playwright.sync_api import sync_playwright

from pipeline.site.build import build
from tests.bench.synthetic import write_corpus
from tests.browser.conftest import FLAGS, NAMES
from tests.browser.pages import NARROW, WIDE, one_of_each_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import Browser, Page, ViewportSize

COMMAND = "python -m tests.bench.weights"
SEED = 7
RESULTS = Path(__file__).resolve().parents[2] / "results"
KB = 1000
MOST_BEFORE_KB = 120  # until the visitor does something
MOST_AFTER_KB = 450  # once the whole page was scrolled into view
MOST_SHIFT = 0.1
MOST_MAP_NODES = 8000
MOST_INDEX_KB = 30  # the index of the search, which loads when its field has the focus
INDEX = "search/search_index.json"
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".xml", ".csv", ".txt"}
# What moved by itself: the browser leaves out what follows an input within half a second.
WATCH_SHIFTS = """window.shifts = 0;
new PerformanceObserver((list) => { for (const each of list.getEntries())
  if (!each.hadRecentInput) window.shifts += each.value; })
  .observe({ type: 'layout-shift', buffered: true });"""
MAP_NODES = "document.querySelectorAll('.dm-map-figure, .dm-map-figure *').length"
SCROLL = "([top]) => window.scrollTo({ top, behavior: 'instant' })"
HEIGHT = "document.documentElement.scrollHeight"
STEP_MS = 100  # between two screens of a page that is scrolled
SETTLED_MS = 250  # without a request


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What one page costs at one width of the screen."""

    address: str
    width: int
    before_kb: float
    after_kb: float
    shift: float
    map_nodes: int

    @property
    def excess(self) -> tuple[str, ...]:
        """Each budget that the page exceeds, in words."""
        checks = (
            (self.before_kb, MOST_BEFORE_KB, "KB before interaction"),
            (self.after_kb, MOST_AFTER_KB, "KB after scrolling"),
            (self.shift, MOST_SHIFT, "layout shift"),
            (self.map_nodes, MOST_MAP_NODES, "nodes in the map"),
        )
        where = f"{self.address or 'home'} at {self.width} px"
        return tuple(
            f"{where}: {found:g} {what}, budget {most}"
            for found, most, what in checks
            if found > most
        )


@dataclass(slots=True)
class Count:
    """The bytes that a server has sent, and for what."""

    sent: int = 0
    paths: list[str] = field(default_factory=list)


class Compressing(SimpleHTTPRequestHandler):
    """A static host: texts leave it compressed, and it counts what leaves."""

    protocol_version = "HTTP/1.1"
    count: ClassVar[Count] = Count()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        if path.suffix in COMPRESSED:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")  # everybody comes for the first time
        self.end_headers()
        self.count.sent += len(body)
        self.count.paths.append(self.path)
        self.wfile.write(body)


@cache
def compressed(path: Path) -> bytes:
    """A file as a static host sends it."""
    data = path.read_bytes()
    return gzip.compress(data, 6, mtime=0) if path.suffix in COMPRESSED else data


@contextmanager
def counting_server(site: Path) -> Iterator[tuple[str, Count]]:
    """The address of a site that is served compressed, and what was sent so far."""
    count = Count()
    handler = type("Counting", (Compressing,), {"count": count})
    serve = partial(handler, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{site.name}/", count
        finally:
            server.shutdown()
            thread.join()


def main(arguments: Sequence[str] | None = None) -> int:
    """Weigh a site, or those of synthetic corpora, and print a line per page."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("sites", nargs="*", type=Path, help="folders of built sites")
    parser.add_argument("--rigs", nargs="*", type=int, default=[], help="synthetic sites to build")
    parser.add_argument("--only", nargs="*", help="addresses to weigh, e.g. tasks/")
    chosen = parser.parse_args(arguments)
    excess = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        for site in (*chosen.sites, *(synthetic_site(Path(folder), n) for n in chosen.rigs)):
            for weight in weigh(browser, site.resolve(), (WIDE, NARROW), chosen.only):
                sys.stdout.write(f"{line(weight)}\n")
                sys.stdout.flush()
                excess += weight.excess
            if index_kb(site) > MOST_INDEX_KB:
                excess.append(f"{INDEX} of {site.name}: {index_kb(site)} KB, not {MOST_INDEX_KB}")
    sys.stdout.writelines(f"too much: {each}\n" for each in excess)
    return 1 if excess else 0


def synthetic_site(folder: Path, rigs: int) -> Path:
    """The site of a synthetic corpus of so many rigs."""
    write_corpus(folder / f"results-{rigs}", rigs=rigs, seed=SEED)
    return build(results=folder / f"results-{rigs}", output=folder / f"site-{rigs}")


def line(weight: Weight) -> str:
    """The figures of one page in columns."""
    return (
        f"{weight.address or 'home':44.44} {weight.width:5} px {weight.before_kb:7.1f} KB before"
        f" {weight.after_kb:7.1f} KB after  shift {weight.shift:.3f}  map {weight.map_nodes:5}"
    )


def weigh(
    browser: Browser,
    site: Path,
    sizes: Sequence[ViewportSize],
    only: Sequence[str] | None = None,
) -> Iterator[Weight]:
    """The weight of one page of each kind, or of certain pages, for each size of the screen."""
    with counting_server(site) as (base, count), browser.new_context() as context:
        context.add_init_script(WATCH_SHIFTS)
        page = context.new_page()
        for address in only or one_of_each_kind(addresses(site)):
            for size in sizes:
                page.set_viewport_size(size)
                yield _weigh(page, base, address, count, size)


def _weigh(page: Page, base: str, address: str, count: Count, size: ViewportSize) -> Weight:
    start = count.sent
    page.goto(base + address, wait_until="load")
    _settle(page, count)
    before = count.sent - start
    for top in range(0, int(page.evaluate(HEIGHT)), size["height"]):
        page.evaluate(SCROLL, [top])
        page.wait_for_timeout(STEP_MS)
    _settle(page, count)
    return Weight(
        address=address,
        width=size["width"],
        before_kb=round(before / KB, 1),
        after_kb=round((count.sent - start) / KB, 1),
        shift=round(page.evaluate("window.shifts"), 3),
        map_nodes=page.evaluate(MAP_NODES),
    )


def _settle(page: Page, count: Count) -> None:
    """Wait until the page has asked for nothing more for a while."""
    seen = -1
    while seen != count.sent:
        seen = count.sent
        page.wait_for_timeout(SETTLED_MS)


def addresses(site: Path) -> list[str]:
    """The addresses of all pages, the largest of those that share a template first."""
    found = sorted(site.rglob("index.html"), key=lambda path: (-path.stat().st_size, path))
    names = (path.parent.relative_to(site).as_posix() for path in found)
    return ["" if name == "." else f"{name}/" for name in names]


def index_kb(site: Path) -> float:
    """What the index of the search weighs."""
    return round(len(compressed(site / INDEX)) / KB, 1)


if __name__ == "__main__":
    raise SystemExit(main())
