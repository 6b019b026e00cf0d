"""Weigh a built site as a browser does: every kind of page, before and after scrolling.

`python -m bench.weights build/site` serves the site, opens one page of each kind in Chromium and
adds up the compressed bytes that a static host sends for the page. It also prints each page's
layout shift and the number of nodes in its ranked rows. `--rigs 60 1000` builds and weighs
synthetic sites of those sizes. The exit code is 1 if a budget is exceeded.
"""

import argparse
import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, Page, Request, ViewportSize, sync_playwright

from bench.synthetic import write_corpus
from pipeline.site.build import build
from tests.browser.conftest import FLAGS, NAMES, serve
from tests.browser.pages import NARROW, WATCH_SHIFTS, WIDE, one_of_each_kind

COMMAND = "python -m bench.weights"
SEED = 7
RESULTS = Path(__file__).resolve().parents[1] / "results"
KB = 1000
MOST_BEFORE_KB, MOST_HOME_KB = 120, 100  # weight until the visitor does something
MOST_REQUESTS = 24
MOST_AFTER_KB = 450  # weight once the whole page has been scrolled into view
MOST_SHIFT = 0.01
MOST_ROW_NODES = 8000
MOST_INDEX_KB = 30  # the search index, which loads when the search field is focused
INDEX = "search/search_index.json"
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".xml", ".csv", ".txt"}
ROW_NODES = "document.querySelectorAll('.dm-ranked, .dm-ranked *').length"
# Scrolling goes screen by screen. Each step waits, because content in view loads only a frame or
# two later.
SCROLL = """async () => {
  const height = document.documentElement.scrollHeight;
  for (let top = 0; top < height; top += window.innerHeight) {
    window.scrollTo({ top, behavior: 'instant' });
    for (const frame of [1, 2, 3]) await new Promise(requestAnimationFrame);
  } }"""
SETTLED_MS = 250  # time without a request


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """The weight of one page at one screen width."""

    address: str
    width: int
    before_kb: float
    requests: int
    after_kb: float
    shift: float
    row_nodes: int

    @property
    def excess(self) -> tuple[str, ...]:
        """A message about each budget that the page exceeds."""
        lightest = MOST_BEFORE_KB if self.address else MOST_HOME_KB
        checks = (
            (self.before_kb, lightest, "KB before interaction"),
            (self.requests, MOST_REQUESTS, "requests"),
            (self.after_kb, MOST_AFTER_KB, "KB after scrolling"),
            (self.shift, MOST_SHIFT, "layout shift"),
            (self.row_nodes, MOST_ROW_NODES, "nodes in the rows"),
        )
        where = f"{self.address or 'home'} at {self.width} px"
        return tuple(
            f"{where}: {found:g} {what}, budget {most}"
            for found, most, what in checks
            if found > most
        )


@dataclass  # no slots: Playwright sets attributes on a listening method
class RequestedPaths:
    """The files of a site that a page has requested, including cached ones."""

    site: Path
    base: str
    paths: set[str] = field(default_factory=set)

    def hear(self, request: Request) -> None:
        """Note the address of a request."""
        self.note(request.url)

    def note(self, url: str) -> None:
        """Note an address of this site; ignore other hosts, and data and blob addresses."""
        if url.startswith(self.base):
            self.paths.add(unquote(urlsplit(url.removeprefix(self.base)).path))

    @property
    def sent(self) -> int:
        """The bytes that a static host sends to a first-time visitor."""
        files = (self.site / path for path in self.paths)
        pages = (path / "index.html" if path.is_dir() else path for path in files)
        return sum(len(compressed(path)) for path in pages if path.is_file())


@cache
def compressed(path: Path) -> bytes:
    """The bytes of a file as a static host sends it."""
    data = path.read_bytes()
    return gzip.compress(data, 6, mtime=0) if path.suffix in COMPRESSED else data


def main(arguments: Sequence[str] | None = None) -> int:
    """Weigh the given and the synthetic sites, and print a line per page."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("sites", nargs="*", type=Path, help="folders of built sites")
    parser.add_argument(
        "--rigs", nargs="*", type=int, default=[], help="rigs of each synthetic site to build"
    )
    chosen = parser.parse_args(arguments)
    excess = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        for site in (*chosen.sites, *(synthetic_site(Path(folder), n) for n in chosen.rigs)):
            for weight in weigh(browser, site.resolve(), (WIDE, NARROW)):
                sys.stdout.write(f"{line(weight)}\n")
                sys.stdout.flush()
                excess += weight.excess
            if index_kb(site) > MOST_INDEX_KB:
                excess.append(f"{INDEX} of {site.name}: {index_kb(site)} KB, limit {MOST_INDEX_KB}")
    sys.stdout.writelines(f"too much: {each}\n" for each in excess)
    return 1 if excess else 0


def synthetic_site(folder: Path, rigs: int) -> Path:
    """Build the site of a synthetic corpus."""
    write_corpus(folder / f"results-{rigs}", rigs=rigs, seed=SEED)
    return build(results=folder / f"results-{rigs}", output=folder / f"site-{rigs}")


def line(weight: Weight) -> str:
    """Format the figures of one page in columns."""
    return (
        f"{weight.address or 'home':44.44} {weight.width:5} px {weight.before_kb:7.1f} KB before"
        f" in {weight.requests:2} requests {weight.after_kb:7.1f} KB after"
        f"  shift {weight.shift:.3f}  rows {weight.row_nodes:5}"
    )


def weigh(browser: Browser, site: Path, sizes: Sequence[ViewportSize]) -> Iterator[Weight]:
    """Yield the weight of one page of each kind at each screen size."""
    with serve(site) as base:
        for address in one_of_each_kind(addresses(site)):
            for size in sizes:
                # A new context: a browser loads a cached image before it is in view.
                with browser.new_context(viewport=size) as context:
                    context.add_init_script(WATCH_SHIFTS)
                    page = context.new_page()
                    asked = RequestedPaths(site, base)
                    page.on("request", asked.hear)
                    yield weighed(page, asked, address)


def weighed(page: Page, asked: RequestedPaths, address: str) -> Weight:
    """Open a page, scroll to its end, and weigh it before and after the scrolling."""
    page.goto("about:blank")  # so that late requests of the previous page are not counted
    asked.paths.clear()
    page.goto(asked.base + address, wait_until="load")
    _wait_until_idle(page, asked)
    before, requests = asked.sent, len(asked.paths)
    size = page.viewport_size
    assert size is not None
    page.evaluate(SCROLL)
    _wait_until_idle(page, asked)
    return Weight(
        address=address,
        width=size["width"],
        before_kb=round(before / KB, 1),
        requests=requests,
        after_kb=round(asked.sent / KB, 1),
        shift=round(page.evaluate("window.shifts"), 3),
        row_nodes=page.evaluate(ROW_NODES),
    )


def _wait_until_idle(page: Page, asked: RequestedPaths) -> None:
    """Wait until the page has made no request for a while."""
    seen = -1
    while seen != len(asked.paths):
        seen = len(asked.paths)
        page.wait_for_timeout(SETTLED_MS)


def addresses(site: Path) -> list[str]:
    """The addresses of all pages, the largest page first."""
    found = sorted(site.rglob("index.html"), key=lambda path: (-path.stat().st_size, path))
    names = (path.parent.relative_to(site).as_posix() for path in found)
    return ["" if name == "." else f"{name}/" for name in names]


def index_kb(site: Path) -> float:
    """Compressed size of the search index."""
    return round(len(compressed(site / INDEX)) / KB, 1)


if __name__ == "__main__":
    raise SystemExit(main())
