"""Does the site hold whatever the world sends? Corpora with odd properties, each built twice.

`python -m bench.oddities` builds a site from each, opens a page of every kind in Chromium on
a wide screen and on a phone, and prints a line per corpus: 0 complaints, or what they are. Exit
code 1 if there was any. `--only NAME …` picks some; `--rigs 300` adds a synthetic corpus.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from bench.odd_corpora import CORPORA
from bench.synthetic import synthetic_corpus
from pipeline.errors import PipelineError
from pipeline.site.build import build
from schemas.codec import file_name
from tests.browser.conftest import FLAGS, NAMES, serve
from tests.browser.pages import NARROW, WIDE, one_of_each_kind, px_too_wide, wake_charts, watched
from tests.samples import sample_bytes
from tests.sites import addresses
from tools.links import broken_links, unnamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from playwright.sync_api import Browser, Page

    from schemas.submission import Submission


COMMAND = "python -m bench.oddities"
SEED = 7
# What no reader should see: values that are none, printed all the same.
# What a template printed by mistake; `None of` begins a sentence.
SLIPPED = re.compile(r"\b(NaN|nan|undefined|None(?! of\b)|Infinity|inf)\b")
# What a reader sees of an article, without the code in it.
PROSE = """() => { const copy = document.querySelector('article').cloneNode(true);
  for (const code of copy.querySelectorAll('pre, code')) code.remove();
  return copy.textContent; }"""
# Charts that say nothing: without a picture, a map without a row, or without words.
SILENT = """() => [...document.querySelectorAll('figure.dm-chart')].filter((each) => {
  const words = each.querySelector('figcaption')?.innerText.trim();
  if (each.matches('.dm-chart--empty')) return !words;
  const height = (one) => one.getBoundingClientRect().height;
  const least = each.matches('.dm-map-figure') ? 10 : 40; // a map may have one row
  const drawn = [...each.querySelectorAll('img, svg, .dm-grid')].some((one) => height(one) > least);
  return !words || !drawn;
}).map((each) => each.innerText.slice(0, 80))"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and open them all; print what is wrong."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--only", choices=CORPORA, nargs="+", help="corpora by their names")
    parser.add_argument("--rigs", type=int, help="a synthetic corpus of so many rigs as well")
    chosen = parser.parse_args(arguments)
    corpora = {name: CORPORA[name] for name in chosen.only or CORPORA}
    if chosen.rigs:
        corpora[f"{chosen.rigs} rigs"] = lambda: tuple(synthetic_corpus(chosen.rigs, SEED))
    wrong = 0
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        for name, made in corpora.items():
            begun = time.monotonic()
            folder = Path(stack.enter_context(TemporaryDirectory()))
            found = list(complaints(folder, made(), browser))
            wrong += len(found)
            took = time.monotonic() - begun
            sys.stdout.write(f"{name:24} {len(found):3} complaints {took:6.0f} s\n")
            sys.stdout.writelines(f"    {each}\n" for each in found)
            sys.stdout.flush()
    return 1 if wrong else 0


def complaints(folder: Path, submissions: Iterable[Submission], browser: Browser) -> Iterator[str]:
    """Everything that is wrong with the site of these submissions."""
    results = folder / "results"
    _write(results / "community", submissions)
    try:
        site = build(results=results, output=folder / "site")
        again = build(results=results, output=folder / "again")
    except PipelineError as error:
        yield f"it cannot be built: {error}"
        return
    first, second = _digests(site), _digests(again)
    differing = {
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
    }
    yield from (f"{name} differs from build to build" for name in sorted(differing))
    yield from (f"{place} refers to {link}" for place, link in broken_links(site) + unnamed(site))
    yield from _seen(site, browser)


def _write(folder: Path, submissions: Iterable[Submission]) -> None:
    folder.mkdir(parents=True)
    for submission in submissions:
        data = sample_bytes(submission)
        gpus = submission.machine.gpus
        name = file_name(
            machine=gpus[0].name if gpus else submission.machine.cpu.name,
            target=submission.target.id,
            measured_from=submission.measured_from,
            data=data,
        )
        (folder / name).write_bytes(data)


def _digests(site: Path) -> dict[str, str]:
    return {
        path.relative_to(site).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in site.rglob("*")
        if path.is_file()
    }


def _seen(site: Path, browser: Browser) -> list[str]:
    """What a reader would complain about."""
    found: list[str] = []
    with serve(site) as base, browser.new_context(viewport=WIDE) as context:
        page = watched(context, base, found)
        for address in one_of_each_kind(addresses(site)):
            page.goto(base + address)
            wake_charts(page)
            found += [f"{address or 'home'}: {words}" for words in _on(page)]
    return found


def _on(page: Page) -> Iterator[str]:
    yield from (f"it prints {word[0]}" for word in SLIPPED.finditer(page.evaluate(PROSE)))
    yield from (f"a chart is silent: {words}" for words in page.evaluate(SILENT))
    page.set_viewport_size(NARROW)
    if excess := px_too_wide(page):
        yield f"it is {excess} px too wide on a phone"
    page.set_viewport_size(WIDE)


if __name__ == "__main__":
    raise SystemExit(main())
