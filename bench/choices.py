"""Measure how often places that show the best of 13 arms claim a gain although no arm gains.

`python -m bench.choices` simulates files from 1, 10 and 50 devices with one model and loads them
into the pipeline's tables. It then runs the queries and functions that supply pages, files, feeds,
the terminal and the tuner. Many worlds share a database: each has its own model, devices and
contributors. `spread` is the difference between contributors; places about a single machine are
simulated without this difference. For each place, the table has the share of false gains among the
place's claims, and the upper end of that share's 95 % Clopper-Pearson interval. For this interval,
all claims about one file or one world count as one observation.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree as ET

import duckdb
import numpy as np
import scipy

from bench.null_worlds import ARMS, device, placed, tune
from harness.report.setting_results import settings
from pipeline.data.load import load
from pipeline.site.pages import strips
from pipeline.site.pages.feeds import feeds
from pipeline.site.pages.model import Site
from pipeline.site.rows import grouped, read
from tests.pipeline.tables import Example, Tables, accepted, entry_on

COMMAND = "python -m bench.choices"
WORLDS, SEED, AIM, AT_ONCE, FRESH = 500, 20261121, 0.02, 10, 10
KINDS = ((1, 0.0), (1, 0.06), (10, 0.06), (50, 0.06))  # devices, and their contributors' spread
GAIN = "at least"
ATOM = "{http://www.w3.org/2005/Atom}"
FEED, TERMINAL, TUNER = "feed: entry", "terminal: answer", "tuner: answer"
# Each claim of these places is about one world; claims of other places are about one file.
OF_WORLD = ("heading", "model", "tuner")
Claims: TypeAlias = "Counter[tuple[str, bool]]"
Kind: TypeAlias = tuple[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The claims made at one place (page, file, feed or command), over all worlds of one size."""

    place: str
    devices: int
    spread: float
    worlds: int
    claims: int
    false_gains: int
    share: float
    at_most: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, write it with `--output`; return 1 if a share exceeds the aim."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        "--worlds", type=int, default=WORLDS, help=f"number of worlds, a multiple of {AT_ONCE}"
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--date", help="date to record in the JSON")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args(arguments)
    found: dict[Kind, Claims] = defaultdict(Counter)
    places: list[Place] = []
    with ProcessPoolExecutor(chosen.jobs, get_context("spawn")) as pool:
        starts = range(0, chosen.worlds, AT_ONCE)
        for start, worlds in zip(starts, pool.map(worlds_from, starts), strict=True):
            for kind, claims in worlds.items():
                found[kind].update(claims)
            done = start + AT_ONCE
            places = [each for kind in KINDS for each in _places(*kind, done, found[kind])]
            if chosen.output:
                chosen.output.write_text(_json(places, done, chosen.date), "utf-8")
    sys.stdout.writelines(f"{line}\n" for line in _table(places))
    return int(any(each.share > AIM for each in places))


def worlds_from(start: int) -> dict[Kind, Claims]:
    """Return the claims in `AT_ONCE` worlds of each number of devices and spread.

    With one or ten devices, no two worlds share a file. With fifty, each world reuses forty files
    of its neighbours and draws new differences between contributors.
    """
    rng = np.random.default_rng((SEED, start))
    files = [device(rng) for _ in range(AT_ONCE * FRESH)]
    found: dict[Kind, Claims] = defaultdict(Counter)
    for count, spread in KINDS:
        here: list[Example] = []
        for world in range(AT_ONCE):
            for at in range(world * FRESH, world * FRESH + count):
                each = files[at % len(files)]
                here.append(placed(rng, each, spread, world=world, number=len(here)))
        found[count, spread].update(_claims(here, spread))
    found[1, 0.0].update(_answers(TERMINAL, files))
    found[1, 0.0].update(_answers(TUNER, (tune(rng) for _ in range(AT_ONCE))))
    return found


def _claims(files: Sequence[Example], spread: float) -> Iterator[tuple[str, bool]]:
    """Yield, for each claim, its place and whether it claims a gain."""
    known = [entry_on(each.submission.contributor or "") for each in files]
    connection = Tables(load(map(accepted, files), (), known))
    for place, gains in PLACES.items():
        if spread == 0 or place != FEED:
            yield from ((place, gain) for gain in gains(connection))  # type: ignore[arg-type]  # it stands for one
    connection.close()


def _answers(place: str, files: Iterable[Example]) -> Iterator[tuple[str, bool]]:
    for each in files:
        best = settings(each.submission, each.summary)[0]
        yield place, best.answer in ("yes", "depends")


def _rows(query: str, connection: duckdb.DuckDBPyConnection, **given: str) -> Iterator[bool]:
    """Yield, for each row of a page's query, whether the row prints a gain."""
    return (row.verdict == "helps" for row in read(connection, query, **given))


def _drawn(connection: duckdb.DuckDBPyConnection) -> Iterator[strips.Group]:
    """The groups on the home page of each world."""
    for own in grouped(strips.main_rows(connection), lambda row: row.target).values():
        yield from strips.by_method(own)[0]


def _strips(connection: duckdb.DuckDBPyConnection) -> Iterator[bool]:
    groups = _drawn(connection)
    return (each.tone == "gain" for own in groups for each in (*own.strips, *own.folded))


def _headings(connection: duckdb.DuckDBPyConnection) -> Iterator[bool]:
    """Yield, for each group's heading, whether it claims that most of the group's rows gain."""
    for group in _drawn(connection):
        tones = [each.tone for each in (*group.strips, *group.folded)]
        yield 2 * tones.count("gain") > len(tones)


def _chosen(connection: duckdb.DuckDBPyConnection) -> Iterator[bool]:
    """Yield, for each row behind an answer (one per backend, method, task), whether it gains."""
    return (strips.strip(row).tone == "gain" for row in read(connection, "pair"))


def _feed(connection: duckdb.DuckDBPyConnection) -> Iterator[bool]:
    files = {each.path: each.data for each in feeds(connection, Site(bundle=""))}
    found = ET.fromstring(files["feed.xml"]).iter(f"{ATOM}summary")  # noqa: S314 - our own
    return (GAIN in (each.text or "") for each in found)


PLACES: Mapping[str, Callable[[duckdb.DuckDBPyConnection], Iterator[bool]]] = {
    "row: home, device and model pages": _strips,
    "row: answers, machine.json": _chosen,
    "heading: home and model pages": _headings,
    "device page: surest gain": partial(_rows, "surest_gain", kind="device"),
    "device page: best settings by task": partial(_rows, "best_settings", kind="device"),
    "model page: surest gain": partial(_rows, "surest_gain", kind="target"),
    "model page: best settings by task": partial(_rows, "best_settings", kind="target"),
    FEED: _feed,
}


def _places(devices: int, spread: float, worlds: int, claims: Claims) -> Iterator[Place]:
    for place in dict.fromkeys(place for place, _ in sorted(claims)):
        false, total = claims[place, True], claims[place, True] + claims[place, False]
        of_file = FRESH if place == TERMINAL else devices
        units = worlds * (1 if place.startswith(OF_WORLD) else of_file)
        share = false / total
        yield Place(
            place=place,
            devices=devices,
            spread=spread,
            worlds=worlds,
            claims=total,
            false_gains=false,
            share=share,
            at_most=_upper(share * units, units),
        )


def _upper(events: float, count: int) -> float:
    """The upper end of the 95 % Clopper-Pearson interval."""
    upper = scipy.stats.beta.ppf(0.975, events + 1, count - events)
    return 1.0 if events >= count else float(upper)


def _json(places: Sequence[Place], worlds: int, date: str | None) -> str:
    about = {"command": COMMAND, "date": date, "worlds": worlds, "arms": ARMS}
    return json.dumps(about | {"rows": [asdict(each) for each in places]}, indent=1) + "\n"


def _table(places: Sequence[Place]) -> Iterator[str]:
    yield f"{'':36}{'devices':>9}{'spread':>8}{'claims':>9}{'false':>9}{'at most':>9}"
    for each in places:
        shown = f"{each.devices:>9}{each.spread:>8.0%}{each.claims:>9}"
        yield f"{each.place:36}{shown}{each.share:>9.2%}{each.at_most:>9.2%}"


if __name__ == "__main__":
    raise SystemExit(main())
