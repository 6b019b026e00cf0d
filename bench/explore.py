"""Measure how fast and how heavy Explore is with very many cells: `python -m bench.explore`.

The bench builds a small site, replaces its cells with random cells, and operates the filters in
headless Chromium. A filter's time is the work of the page's main thread from the event to the
finished picture (in thread ticks, so that a busy machine does not matter).
"""

import argparse
import gzip
import random
import re
import shutil
import statistics
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from playwright.sync_api import CDPSession, Page, sync_playwright

from bench.synthetic_rigs import models
from bench.synthetic_truth import world
from pipeline.site.pages.explore import DEFAULT_ENGINE, FILTERS, VENDORS, cells_file
from schemas.vocabulary import FIXED_TASKS, size_class
from tests.browser.conftest import FLAGS, NAMES, Quiet
from tests.sites import built_site

COMMAND = "python -m bench.explore"
CELLS, SEED, ROUNDS = (10_000, 36_000), 1, 4
DEVICES, TASKS = 150, ("all", *FIXED_TASKS)
METHODS = (("draft-model", "Draft model"), ("prompt-lookup", "Prompt lookup"), ("mtp", "MTP"))
DEFAULTS = (
    *("suite_label", "context_depth", "token_choice", "answer_limit", "cache_types"),
    *("attention", "loading", "conditions"),
)
TYPES = {"measured_with": pl.List(pl.String)}  # no row has an option from which to tell
VERDICTS = ("helps", "hurts", "no-clear-difference")
FILTER_LIMIT_MS, WEIGHT_LIMIT_KIB = 100.0, 1024.0
CELLS_PATH = re.compile(r'data-cells="[^"]*"')

# One step sets a field as a reader would, and ends when the page has been redrawn.
STEP = """async ([selector, kind, value]) => {
  const field = document.querySelector(selector);
  field.value = value;
  field.dispatchEvent(new Event(kind, { bubbles: true }));
  document.body.getBoundingClientRect();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""
OPTIONS = "(selector) => [...document.querySelector(selector).options].map((each) => each.value)"
WORDS = "4060 code draft"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the figures; return 1 if a budget is exceeded."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=CELLS)
    chosen = parser.parse_args(arguments)
    rows = []
    for cells in chosen.cells:
        with TemporaryDirectory() as folder:
            rows.append(measure(Path(folder), cells))
        sys.stdout.writelines(f"{name:24} {value:10.1f}\n" for name, value in rows[-1].items())
    return 0 if all(map(_within, rows)) else 1


def _within(figures: Mapping[str, float]) -> bool:
    weight_kib = figures["page_gzip_kib"]
    return figures["filter_p95_ms"] < FILTER_LIMIT_MS and weight_kib <= WEIGHT_LIMIT_KIB


def measure(folder: Path, cells: int) -> dict[str, float]:
    """Put random cells into the site; return its times in milliseconds and gzip weights in KiB."""
    site = built_site(folder)
    rows = pl.DataFrame(random_rows(cells, SEED), schema_overrides=TYPES, infer_schema_length=None)
    file = cells_file(rows.sort("interval_low", descending=True))  # the order of the view
    (site / file.path).write_bytes(file.data)
    page = site / "explore" / "index.html"
    text = CELLS_PATH.sub(f'data-cells="../{file.path}"', page.read_text("utf-8"))
    page.write_text(text, "utf-8")
    return {"cells": cells, **_times(site), "page_gzip_kib": _weight_kib(site, text, file.data)}


# The fields that are equal in every random row.
SAME: dict[str, object] = {
    "tier": "measured",
    "engine_label": DEFAULT_ENGINE,
    "concurrency": 1,
    "at_most": False,
    "measured_with": [],
    **dict.fromkeys(DEFAULTS),
}


def random_rows(count: int, seed: int) -> Iterator[dict[str, object]]:
    """Random rows in the form of the view `explore`: settings on many devices, with every task."""
    rng = random.Random(seed)  # noqa: S311 - random data
    targets = [model for model in models() if model.parameters >= 3e9]
    for number in range(count):
        setting = random.Random(f"{seed} {number // len(TASKS)}")  # noqa: S311 - random data
        target = setting.choice(targets)
        method, method_label = setting.choice(METHODS)
        device = setting.randrange(DEVICES)
        gpu = world()["gpu"][device % len(world()["gpu"])]
        speedup = setting.lognormvariate(0.2, 0.3) * rng.lognormvariate(0, 0.15)
        tokens = rng.uniform(1.2, 4.5)
        verdict = rng.choice(VERDICTS)
        draft = f"{target.family}-{setting.choice((0.5, 1, 1.5))}B Q8_0"
        yield SAME | {
            "cell": f"cell-{number}",
            "task": TASKS[number % len(TASKS)],
            "device": f"device-{device}",
            "device_label": f"{gpu['name']} no. {device}",
            "backend": setting.choice(gpu["backends"]),
            "target": target.name.lower(),
            "target_label": target.name,
            "quantisation": target.quantisation,
            "method": method,
            "method_label": method_label,
            "depth": setting.choice((2, 4, 6, 8)),
            "draft_label": draft if method == "draft-model" else None,
            **_figures(rng, setting, speedup=speedup, tokens=tokens, verdict=verdict),
            "setup": f"{setting.randrange(16**10):010x}",
            "submission": f"machine-{device}--model--20260301-{setting.randrange(400):08x}",
            "vendor": gpu["vendor"] if gpu["vendor"] in VENDORS else "other",
            "vram_gib": round(gpu["vram_mib"] / 1024),
            "size_class": size_class(target.parameters).label,
            "size_order": 2 if target.parameters < 8e9 else 3,
            "mark": verdict,
            "stated_request": speedup * setting.uniform(0.8, 1),
            "stated_request_low": speedup * 0.7,
            "stated_request_high": speedup * 1.2,
            "context_depth": setting.choice((None, None, 4096)),
        }


def _figures(
    rng: random.Random, setting: random.Random, *, speedup: float, tokens: float, verdict: str
) -> dict[str, object]:
    baseline = setting.uniform(5, 120) * rng.lognormvariate(0, 0.01)
    return {
        "verdict": verdict,
        "speedup": speedup,
        "interval_low": speedup * rng.uniform(0.7, 0.95),
        "interval_high": speedup * rng.uniform(1.05, 1.4),
        "interval_kind": "one-contributor",
        "baseline_tps": baseline,
        "tps": baseline * speedup,
        "tokens_per_round": tokens,
        "round_cost": tokens / speedup,
        "acceptance_rate": rng.random(),
        "submissions": setting.choice((1, 1, 1, 2, 3)),
        "rigs": 1,
        "prompts": 3,
    }


def _times(site: Path) -> dict[str, float]:
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        address = f"http://127.0.0.1:{server.server_port}/explore/"
        found = _work(browser.new_page(), address, FILTERS.keys())
        browser.close()
        server.shutdown()
    return found


def _work(page: Page, address: str, filters: AbstractSet[str]) -> dict[str, float]:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address)
    page.mouse.move(9, 9)  # the cells load when a visitor does something
    page.wait_for_selector('#dm-explore[data-state="ready"]', timeout=60_000)
    timed = []
    for step in _steps(page, filters):
        before_ms = _busy_ms(session)
        page.evaluate(STEP, step)
        timed.append(_busy_ms(session) - before_ms)
    return {
        "filters_timed": len(timed),
        "filter_p50_ms": round(statistics.median(timed), 1),
        "filter_p95_ms": round(statistics.quantiles(timed, n=20)[-1], 1),
    }


def _steps(page: Page, names: AbstractSet[str]) -> Iterator[tuple[str, str, str]]:
    """Yield a reader's actions: filters on and off, then typing."""
    filters = [f'#dm-explore [name="{name}"]' for name in FILTERS if name in names]
    for number in range(ROUNDS):
        for selector in filters:
            values = page.evaluate(OPTIONS, selector)[1:]
            yield selector, "change", values[number % len(values)]
        for selector in filters:
            yield selector, "change", ""
        for end in range(1, len(WORDS) + 1):
            yield "#dm-explore-words", "input", WORDS[:end]
        yield "#dm-explore-words", "input", ""


def _busy_ms(session: CDPSession) -> float:
    """Milliseconds that the page's main thread has worked so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration")) * 1000


def _weight_kib(site: Path, page: str, cells: bytes) -> float:
    """The gzip weight of Explore with its scripts, styles and cells."""
    linked = re.findall(r'(?:src|href)="\.\./(assets/[^"?#]+\.(?:js|css|svg))"', page)
    script = re.findall(r'from "\./([a-z-]+\.js)"', "".join(_scripts(site)))
    paths = {site / each for each in linked}
    paths |= {site / "assets" / "javascripts" / each for each in script}
    parts = (page.encode(), cells, *(path.read_bytes() for path in sorted(paths)))
    return round(sum(map(_kib, parts)), 1)


def _scripts(site: Path) -> Iterator[str]:
    for name in ("explore.js", "cells-text.js"):
        yield (site / "assets" / "javascripts" / name).read_text("utf-8")


def _kib(data: bytes) -> float:
    return len(gzip.compress(data, mtime=0)) / 1024


if __name__ == "__main__":
    raise SystemExit(main())
