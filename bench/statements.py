"""Check generated sentences against the tables below them: `python -m bench.statements`.

The site's charts, map headings and list of losses are made from random collections of results. For
each sentence with a number, a rule in this file parses the sentence and checks it against the table
below; the rule uses no other data. A sentence that no rule parses counts as contradicted. The
program prints the number of sentences of each kind; the exit code is 1 if any is contradicted.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import duckdb

from estimates.summary import summarize
from pipeline.site import charts, rows
from pipeline.site.charts.captions import CAPTIONS
from pipeline.site.pages import strips, what_moves_it
from schemas.submission import Task
from tests.builds import over_builds
from tests.concurrency import concurrent
from tests.contexts import at_depth
from tests.pipeline.tables import Example, campaign, database, entry

COMMAND = "python -m bench.statements"
PEOPLE = ("ada", "bob", "cyd", "dan")
CARDS = {"NVIDIA GeForce RTX 4060": 8188, "NVIDIA GeForce RTX 4090": 24564, "Apple M2": 16384}
SIZES = (3_000_000_000, 7_000_000_000, 32_000_000_000)
TASKS: Sequence[Task | None] = ("code", "chat", "math", None)
BACKENDS = ("cuda", "vulkan")
TIMES = "\N{MULTIPLICATION SIGN}"
SLOWER, IN_ALL, CLEAR = "hurts", "slower-in-all", 0.05
LINE: TypeAlias = "Mapping[str, Any]"  # a row of a table by the names of its columns
Rule: TypeAlias = "Callable[[re.Match[str], Sequence[LINE]], bool]"


class Said(NamedTuple):
    """A sentence, the kind of place that prints it, and the table that supports it."""

    kind: str
    text: str
    table: Sequence[LINE]


# ---- random collections ------------------------------------------------------------------------
def collection(rng: random.Random) -> duckdb.DuckDBPyConnection:
    """The tables of a few campaigns, some with several builds, contexts or concurrent requests."""
    made = [*_campaigns(rng)]
    for often, more in (
        (0.2, over_builds),
        (0.2, lambda: (at_depth(512), at_depth(4096, extra_width_ms=rng.uniform(0.5, 9.0)))),
        (0.2, lambda: (concurrent(1, 4, blocks=1),)),
    ):
        if rng.random() < often:
            made += (entry(each, summarize(each)) for each in more())
    return database(*made)


def _campaigns(rng: random.Random) -> Iterator[Example]:
    for number in range(rng.randint(1, 25)):
        card = rng.choice([*CARDS])
        speedup = rng.lognormvariate(0.2, 0.4)
        half = rng.choice((1.01, 1.05, 1.3))
        request = rng.choice((None, speedup * rng.uniform(0.6, 1.0)))
        yielded = rng.uniform(1.0, 4.0)
        yield campaign(
            speedup,
            within=rng.choice((None, (speedup / half, speedup * half))),
            request=request,
            request_within=request and (request / half, request * half),
            task=rng.choice(TASKS),
            tier=rng.choice(("measured", "measured", "imported")),
            depth=rng.choice((2, 4, 8)),
            baseline_tps=rng.choice((None, rng.uniform(5, 90))),
            tokens_per_round=yielded,
            round_cost=yielded / speedup,
            gpu=card,
            vram_mib=CARDS[card],
            backend=rng.choice(BACKENDS),
            parameters=rng.choice(SIZES),
            contributor=rng.choice(PEOPLE),
            day=f"2026-11-{1 + number:02}",
        )


# ---- sentences of the pages --------------------------------------------------------------------
def sentences(connection: duckdb.DuckDBPyConnection) -> Iterator[Said]:
    """Yield all sentences with a number, from the charts, the map and the losses."""
    for name, definition in charts.definitions().items():
        if name not in CAPTIONS:
            continue
        found = charts.as_rows(
            rows.frame(connection, definition.query or name, **definition.parameters)
        )
        if found:
            kept = (*definition.columns, "verdict", "backing")
            table = [{key: row[key] for key in kept if key in row} for row in found]
            yield Said(name, CAPTIONS[name](found), table)
    drawn = strips.main_rows(connection)
    groups, _ = strips.by_method(drawn)
    for group in groups:
        table = [row._asdict() for row in drawn if row.method_label == group.label]
        yield Said("finding", f"{group.finding}; {group.spread}", table)
    pairs = [row._asdict() for row in strips.rows_by_method(connection)]
    for each in what_moves_it.comparisons(strips.rows_by_method(connection)):
        text = (
            f"{each.slower} of {each.pairs}, without it {each.other_slower} of {each.other_pairs}"
        )
        yield Said("losses", text, pairs)


# ---- rules -------------------------------------------------------------------------------------
def _near(printed: str, value: float) -> bool:
    """Check whether a printed figure equals the value, to the printed digits."""
    half = 0.5 * 10.0 ** -len(printed.partition(".")[2])
    return abs(float(printed) - value) <= half * 1.001


def _above(table: Sequence[LINE]) -> int:
    return sum(row["speedup"] > 1 for row in table)


def _whole_map(said: re.Match[str], table: Sequence[LINE]) -> bool:
    shown = [row for row in table if (row["choice"], row["task_label"]) == ("any", "any")]
    few = said["above"] is None
    return int(said["all"]) == len(shown) and (
        len(shown) < 3 if few else int(said["above"]) == _above(shown)
    )


def _tasks(said: re.Match[str], table: Sequence[LINE]) -> bool:
    first = table[0]["tier"]
    typical = {
        task: median(r["relative"] for r in table if (r["task_label"], r["tier"]) == (task, first))
        for task in {row["task_label"] for row in table if row["tier"] == first}
    }
    if said["alone"]:
        return len(typical) == 1 and _near(said["alone_ratio"], typical[said["alone"]])
    most, least = typical[said["most"]], typical[said["least"]]
    return (
        said["tier"] == first
        and (most, least) == (max(typical.values()), min(typical.values()))
        and _near(said["most_ratio"], most)
        and _near(said["least_ratio"], least)
    )


def _methods(said: re.Match[str], table: Sequence[LINE]) -> bool:
    return all(
        _counted(one, [row for row in table if row["method_label"] == one["method"]])
        for one in METHOD.finditer(said[0])
    )


def _may_be_best(own: Sequence[LINE]) -> set[int]:
    """Depths that may be called a pair's best, with or without depths that slow whole requests."""

    def bound(row: LINE) -> tuple[bool, float]:
        return row["interval_low"] is not None, row["interval_low"] or row["speedup"]

    sure = [bound(row) for row in own if (row["stated_request"] or 1) >= 1]
    return {row["depth"] for row in own if bound(row) >= max(sure, default=(False, 0))}


def _is_listed(said: re.Match[str], row: LINE) -> bool:
    """Check whether the sentence lists a row's depth or, without a list, names it as the best."""
    return str(row["depth"]) in re.findall(r"\d+", said["able"] or said["depth"])


def _is_best(said: re.Match[str], own: Sequence[LINE]) -> bool:
    """Check whether the depth in the sentence is the best of these rows."""
    bare = all(row["interval_low"] is None for row in own)
    name = "speedup" if bare else "interval_low"
    best = max(own, key=lambda row: row[name] or 0)
    return str(best["depth"]) == said["depth"] and (
        said["what"] is None or (said["what"] == "figure") == bare
    )


def _depths(said: re.Match[str], table: Sequence[LINE]) -> bool:
    lines = [
        [row for row in table if row["line_label"] == line]
        for line in {row["line_label"] for row in table}
    ]
    able = [own for own in lines if any((row["stated_request"] or 1) >= 1 for row in own)]
    if said["none"]:
        return not able
    if said["depth"]:
        own = [each for each in lines if each[0]["line_label"] in said[0]]
        return any(_is_best(said, [row for row in each if _is_listed(said, row)]) for each in own)
    stated = {
        int(depth): int(times)
        for depth, times in re.findall(r"(\d{1,3}) for (\d{1,3}) pair", said["at"])
    }
    may = Counter(depth for own in lines for depth in _may_be_best(own))
    return (
        len(able) <= int(said["all"]) == sum(stated.values()) <= len(lines)
        and stated.keys() <= may.keys()
        and all(times <= may[depth] for depth, times in stated.items())
    )


def _series(said: re.Match[str], table: Sequence[LINE]) -> bool:
    column = "concurrency" if "concurrency" in table[0] else "context_depth"
    fell, clearly, every = (0 if said[n] == "none" else int(said[n]) for n in ("f", "c", "all"))

    def is_there(ratio: str, at: str) -> bool:
        return any(
            row["arm_label"] == said["arm"]
            and row["place_label"] == said["place"]
            and f"{row[column]:,}" == at
            and _near(ratio, row["speedup"])
            for row in table
        )

    falls = float(said["to"]) < float(said["from"])
    return (
        clearly <= fell <= every
        and is_there(said["from"], said["one"])
        and is_there(said["to"], said["other"])
        and (fell > 0 if falls else fell < every or said["to"] == said["from"])
    )


def _builds(said: re.Match[str], table: Sequence[LINE]) -> bool:
    steps = Counter(row["step_label"] for row in table)
    changes, slower = steps.total() - steps["none"], steps["slower"]
    if said["none"]:
        return changes == 0
    worst = min((r["speedup_change"] for r in table if r["step_label"] == "slower"), default=1.0)
    stated = 0 if said["slower"] is None else int(said["slower"])
    return (int(said["changes"]), stated) == (changes, slower) and (
        said["worst"] is None or _near(said["worst"], worst)
    )


def _break_even(said: re.Match[str], table: Sequence[LINE]) -> bool:
    won = sum(row["tokens_per_round"] > row["round_cost"] for row in table)
    hopeless = sum(bool(row["cannot_win"]) for row in table)
    lost = 0 if said["lost"] == "none" else int(said["lost"])
    return (int(said["won"]), int(said["all"]), lost) == (won, len(table), hopeless)


def _is_clear(row: LINE, verdicts: Collection[str], *, beyond: bool) -> bool:
    """Check whether a row has one of these verdicts; if it has no verdict, return `beyond`."""
    return row["verdict"] in verdicts if row["verdict"] is not None else beyond


def _counted(said: re.Match[str], table: Sequence[LINE]) -> bool:
    """Check the numbers of faster and slower rows, and the median."""
    known = [row for row in table if row["backing"] == 0] or table
    gains = sum(_is_clear(row, ("helps",), beyond=row["speedup"] >= 1 + CLEAR) for row in known)
    hurts = sum(_is_clear(row, (SLOWER,), beyond=row["speedup"] <= 1 - CLEAR) for row in known)
    return (
        int(said["all"]) == len(known)
        and (int(said["faster"]), int(said["slower"] or 0)) == (gains, hurts)
        and int(said["in_all"] or 0) == sum(row["verdict"] == IN_ALL for row in known)
        and (said["usual"] is None or _near(said["usual"], median(x["speedup"] for x in known)))
    )


def _finding(said: re.Match[str], table: Sequence[LINE]) -> bool:
    speedups = [row["speedup"] for row in table if row["backing"] == 0]
    speedups = speedups or [row["speedup"] for row in table]
    return (
        _counted(said, table)
        and _near(said["low"], min(speedups))
        and _near(said["high"] or said["low"], max(speedups))
    )


def _losses(said: re.Match[str], table: Sequence[LINE]) -> bool:
    slower, pairs, others, rest = map(int, said.groups())
    return (
        pairs + rest == len(table)
        and slower + others == sum(row["speedup"] <= 1 - CLEAR for row in table)
        and slower / pairs > others / rest
    )


TALLY = (
    r"faster on (?P<faster>\d+) of (?P<all>\d+) pairs?"
    r"(?:, slower on (?P<slower>\d+))?(?:, slower overall on (?P<in_all>\d+))?"
    rf"(?:, median (?P<usual>[\d.]+){TIMES})?"
)
METHOD = re.compile(rf"(?P<method>[^;:]{{1,60}}): {TALLY}(?:; |\.$)")
RULES: Mapping[str, tuple[str, Rule]] = {
    "whole_map": (
        (
            rf"(?:The typical speedup is above 1{TIMES} on (?P<above>\d+) of )?(?P<all>\d+) pairs?"
            r" of device and model size(?:\.|: too few to summarize\.)"
        ),
        _whole_map,
    ),
    "tasks": (
        (
            rf"On (?P<alone>.+), a setting gains (?P<alone_ratio>[\d.]+){TIMES} its own mean over"
            r" tasks\."
            rf"|The same setting gains most on (?P<most>.+?), (?P<most_ratio>[\d.]+){TIMES} its own"
            rf" mean over tasks, and least on (?P<least>.+?), (?P<least_ratio>[\d.]+){TIMES}"
            r" \((?P<tier>\w+)\)\."
        ),
        _tasks,
    ),
    "methods": (
        rf"(?:{re.sub('[?]P<[a-z_]+>', '', METHOD.pattern)})+",
        _methods,
    ),
    "depths": (
        (
            r"(?P<none>The whole request is clearly slower at every depth).+"
            r"|Depth (?P<depth>\d+) (?:has the highest (?P<what>lower bound|figure) of the depths"
            r" (?P<able>[\d, and]+)|is the only depth without a clearly slower whole request):.+"
            r"|(?P<all>\d+) pairs? ran at several depths; the best depth, marked, is"
            r" (?P<at>[^.]+)\..+"
        ),
        _depths,
    ),
    "builds": (
        (
            r"(?P<none>In \d+ settings?, no speedup clearly differs) .+"
            r"|(?P<changes>\d+) changes? detected in \d+ settings?, (?:none of them slower"
            rf"|(?P<slower>\d+) of them slower: at worst (?P<worst>[\d.]+){TIMES} with .+)\."
        ),
        _builds,
    ),
    "break_even": (
        (
            r"(?P<won>\d+) of (?P<all>\d+) cells? yield more tokens per round than the round"
            r" costs; in (?P<lost>none|\d+) of the \d+, a round costs more than even a fully"
            r" accepted draft returns\.(?: The chart shows .+)?"
        ),
        _break_even,
    ),
    "finding": (
        (rf"{TALLY}; (?P<low>[\d.]+){TIMES}(?: to (?P<high>[\d.]+){TIMES})?"),
        _finding,
    ),
    "losses": (r"(\d+) of (\d+), without it (\d+) of (\d+)", _losses),
} | dict.fromkeys(
    ("concurrency", "context"),
    (
        (
            r"The speedup falls .+? in (?P<f>none|\d+) of (?P<all>\d+) series, clearly in"
            rf" (?P<c>none|\d+)\. For example (?P<arm>.+) on (?P<place>.+): from"
            rf" (?P<from>[\d.]+){TIMES} (?:after )?(?P<one>[\d,]+) (?:at once|tokens) to"
            rf" (?P<to>[\d.]+){TIMES} (?:after )?(?P<other>[\d,]+) (?:at once|tokens)\."
        ),
        _series,
    ),
)


def contradicted(said: Said) -> bool:
    """Check whether the table contradicts a sentence, or whether no rule can parse the sentence."""
    pattern, rule = RULES[said.kind]
    found = re.fullmatch(pattern, said.text)
    return found is None or not rule(found, said.table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the sentences of many collections."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--collections", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="seed of the first collection")
    chosen = parser.parse_args(arguments)
    read, wrong = Counter[str](), 0
    for seed in range(chosen.first, chosen.first + chosen.collections):
        for said in sentences(collection(random.Random(seed))):  # noqa: S311 - a simulation
            read[said.kind] += 1
            if contradicted(said):
                wrong += 1
                sys.stdout.write(f"collection {seed}, {said.kind}: {said.text}\n")
    for kind, count in sorted(read.items()):
        sys.stdout.write(f"{kind:20}{count:7} sentences\n")
    sys.stdout.write(f"{read.total()} sentences of {chosen.collections} collections, ")
    sys.stdout.write(f"{wrong} contradicted by their tables\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
