"""A browser, and the site on a file server of this machine. Without Chromium: loudly skipped."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.pages import CATCH, WATCH_SHIFTS, lent, watch
from tests.processes import PATIENCE_S
from tests.sites import built_site
from tools.serve import Handler

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
# This limit only detects events that never happen; durations are not tested.
PATIENCE_MS = 1000 * PATIENCE_S
MOST_S = 480.0  # for one test; every page together takes 60 s, and 200 s on a busy machine
MISSING = (
    "NO CHROMIUM FOUND: the built site was not opened in a browser. "
    "Install chromium, or name its program in the variable CHROMIUM."
)


class Quiet(Handler):
    """Our file server; it ignores pages that closed before their file was sent."""

    protocol_version = "HTTP/1.1"  # one connection for many files

    def end_headers(self) -> None:
        """Let the browser cache everything: the site does not change during a test."""
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def copyfile(self, source: BinaryIO, outputfile: BinaryIO) -> None:
        """Send a file, unless the page that requested it is closed."""
        with suppress(ConnectionError):
            super().copyfile(source, outputfile)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def base(site: Path) -> Iterator[str]:
    with serve(site) as address:
        yield address


@contextmanager
def serve(site: Path, kind: type[Quiet] = Quiet) -> Iterator[str]:
    """The address of a site while it is served, below a folder as on a project page."""
    handler = partial(kind, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{site.name}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, args=list(FLAGS), timeout=PATIENCE_MS
        )
        started.on("context", lambda context: context.set_default_timeout(PATIENCE_MS))
        expect.set_options(timeout=PATIENCE_MS)
        yield started
        started.close()


@pytest.fixture(autouse=True)
def patience(browser: Browser) -> Iterator[None]:
    """End the browser of a test that waits forever, because `evaluate` has no limit of its own.

    The test and those after it then fail at once, and are repeated with a new browser.
    """
    assert browser.is_connected(), "an earlier test waited forever, and the browser was ended"
    timer = threading.Timer(MOST_S, end_browser)
    timer.start()
    yield
    timer.cancel()


def end_browser() -> None:
    """End the browser that this process started."""
    for each in psutil.Process().children(recursive=True):
        if "chrom" in each.name():
            with suppress(psutil.Error):
                each.kill()


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[Page]:
    """The page in which tests open addresses; see `tests.browser.pages.lent`."""
    with browser.new_context() as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.add_init_script(CATCH + WATCH_SHIFTS)
        yield context.new_page()


@pytest.fixture
def complaints() -> list[str]:
    """The complaints of `page`."""
    return []


@pytest.fixture
def page(tab: Page, base: str, complaints: list[str]) -> Iterator[Page]:
    """A wide page in the light, watched for errors, refusals and requests to other hosts."""
    with lent(tab) as page:
        yield watch(page, base, complaints)


@pytest.fixture(scope="session")
def still_tab(browser: Browser) -> Iterator[Page]:
    """The same without JavaScript."""
    with browser.new_context(java_script_enabled=False) as context:
        yield context.new_page()
