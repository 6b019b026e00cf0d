"""Figures that are printed together are consistent: two of them divide to the third.

The speedup is the rate with speculation over the rate without, tokens per round over R, and the
time of a request without over the time with speculation. That is so in the terminal, in JSON,
on every page, in Explore and Compare, and in every data file.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self

import polars as pl
import pytest
from typer.testing import CliRunner

from estimates.summary import summarize
from harness.cli import app
from pipeline.site.build import build
from schemas import contract
from schemas.submission import Submission
from tests.first_results import FIRST
from tests.nightly import few
from tests.pipeline.page_tables import PageTable, tables
from tests.sites import built_site, known, with_answers
from tools.links import unresolved

RESULTS = Path(__file__).parents[1] / "results"
FILES = FIRST

NUMBER = re.compile(r"^(?:at most |at least )?([\d,]+(?:\.\d+)?)")
FIGURE = r"(?:at most )?([\d,]+(?:\.\d+)?)"
FIRST_LINES = re.compile(
    rf"writes {FIGURE} tokens/s where plain decoding writes {FIGURE}: {FIGURE}×"  # noqa: RUF001
)
BRIEF_ROW = re.compile(rf"^  \S+ +{FIGURE} +{FIGURE} +{FIGURE}×", re.MULTILINE)  # noqa: RUF001
DETAIL_ROW = re.compile(
    rf"{FIGURE} → {FIGURE} +{FIGURE}×(?:.*? ([\d.]+)/([\d.]+) )?"  # noqa: RUF001
)
TOTAL_ROW = re.compile(
    rf"^ +(\d+) +(\S+) +{FIGURE} +{FIGURE}(?: +{FIGURE}×)?",  # noqa: RUF001
    re.MULTILINE,
)

SPEEDUP = re.compile(r"^(Speedup|Median speedup|One stream)\b")
RATES = ("Tokens/s", "Plain × speedup, tokens/s")  # noqa: RUF001
COSTS = ("R", "Round cost R")


@dataclass(frozen=True, slots=True)
class Printed:
    """The range of values that a printed figure may have, given its digits."""

    low: float
    high: float

    @classmethod
    def of(cls, text: str) -> Self | None:
        """The first figure of a text; `None` for a dash or a bound such as `<0.1`."""
        match = NUMBER.match(text.strip())
        if match is None:
            return None
        digits = match[1].replace(",", "")
        half = 0.5 * 10.0 ** -len(digits.partition(".")[2])
        return cls(float(digits) - half, float(digits) + half)


@dataclass(frozen=True, slots=True)
class Quotient:
    """Two printed figures, and a third that should be their quotient."""

    where: str
    over: str
    under: str
    ratio: str

    @property
    def known(self) -> bool:
        return None not in {Printed.of(each) for each in (self.over, self.under, self.ratio)}

    @property
    def agrees(self) -> bool:
        over, under, ratio = (Printed.of(each) for each in (self.over, self.under, self.ratio))
        if over is None or under is None or ratio is None:
            return True
        highest = over.high / under.low if under.low > 0 else math.inf
        return over.low / under.high <= ratio.high and highest >= ratio.low


def apart(found: Iterable[Quotient]) -> list[Quotient]:
    return [each for each in found if not each.agrees]


def read(path: Path) -> Submission:
    found = contract.read(path.read_bytes(), file=path.name)
    assert isinstance(found, Submission)
    return found


def has_speedups(path: Path) -> bool:
    return any(each.speedup for each in summarize(read(path)).estimates)


STREAMS = [path for path in FILES if any(arm.concurrency for arm in read(path).arms)]


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["show", *arguments])
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("one", "other", "third", "agrees"),
    [
        ("73.2", "50.1", "1.46", True),  # 73.15 / 50.15 = 1.4586 to 73.25 / 50.05 = 1.4635
        ("73.2", "50.1", "1.47", False),
        ("30.0", "28.2", "1.31", False),
        ("–", "28.2", "1.31", True),  # noqa: RUF001
    ],
)
def test_a_quotient_is_as_exact_as_its_digits(
    one: str, other: str, third: str, *, agrees: bool
) -> None:
    assert Quotient("", one, other, third).agrees == agrees


@pytest.mark.parametrize("path", few(FILES, 8), ids=lambda path: path.stem[-8:])
def test_the_terminal(path: Path) -> None:
    text = shown(str(path), "--details")
    sentence = FIRST_LINES.findall(" ".join(text.split()))
    rows = [Quotient("brief", own, base, ratio) for base, own, ratio in BRIEF_ROW.findall(text)]
    for base, own, ratio, yielded, cost in DETAIL_ROW.findall(text):
        rows.append(Quotient("details", own, base, ratio))
        if yielded:
            rows.append(Quotient("rounds", yielded, cost, ratio))

    assert bool(rows) == has_speedups(path)
    assert apart([*rows, *(Quotient("first lines", *each) for each in sentence)]) == []


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem[-8:])
def test_the_terminal_with_several_requests_at_once(path: Path) -> None:
    base = ""
    rows: list[Quotient] = []
    for _, arm, _, total, ratio in TOTAL_ROW.findall(shown(str(path), "--details")):
        if ratio:
            rows.append(Quotient(arm, total, base, ratio))
        else:
            base = total

    assert rows
    assert apart(rows) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-8:])
def test_the_json_of_a_file(path: Path) -> None:
    summary = json.loads(shown(str(path), "--json"))
    known = [each for each in summary["estimates"] if "speedup" in each]

    for each in (*known, *summary["prompts"]):
        assert each["tps"] / each["baseline_tps"] == pytest.approx(each["speedup"])
        if "round_cost" in each:
            assert each["tokens_per_round"] / each["round_cost"] == pytest.approx(each["speedup"])
    for each in known:
        if "whole_request" in each:
            ratio = each["baseline_request_ms"] / each["request_ms"]
            assert ratio == pytest.approx(each["whole_request"])
            stated = (each["baseline_reading_ms"] + 255_000 / each["baseline_tps"]) / (
                each["reading_ms"] + 255_000 / each["tps"]
            )
            assert stated == pytest.approx(each["stated_request"])


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem[-8:])
def test_the_totals_of_a_file_and_its_streams(path: Path) -> None:
    summary = json.loads(shown(str(path), "--json"))
    totals = {each["arm"]: each for each in summary["throughput"]}
    overall = {each["arm"]: each for each in summary["estimates"] if "task" not in each}

    for each in (each for each in totals.values() if "baseline" in each):
        base = totals[each["baseline"]]
        assert each["total_tps"] / base["total_tps"] == pytest.approx(each["total_speedup"])
        alone = each["stream_tps"] / base["stream_tps"]
        assert alone == pytest.approx(overall[each["arm"]]["speedup"])


@pytest.mark.nightly
@pytest.mark.long
def test_the_site(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    # One test, so that one process builds the site of all results.
    site = tmp_path / "site"
    temporary = tmp_path_factory.getbasetemp()
    cache = with_answers(temporary, known(built_site(temporary), tmp_path / "cache"))
    build(results=RESULTS, output=site, cache=cache)
    pages = tables(site)

    rows = [each for each in chain(*map(_of_table, pages.values())) if each.known]
    rows += [each for each in _of_submissions(pages) if each.known]
    assert apart(rows) == []
    kinds = {each.where.partition("/")[0] for each in rows}
    assert kinds >= {"submissions", "devices", "models", "explore"}

    assert apart(_of_columns(site)) == []
    for path in sorted((site / "data").glob("*.csv")):
        _compare_columns(path)
    _compare_devices(site)

    promised = (Path(__file__).parent / "data" / "addresses-of-results.txt").read_text("utf-8")
    assert unresolved(site, promised.split()) == []


def _of_table(table: PageTable) -> Iterator[Quotient]:
    """Yield the quotients in each row of a table, by the headings of its columns."""
    heading = next((each for each in table.headings if SPEEDUP.match(each)), None)
    for row in table.rows:
        if heading is not None:
            own, cost = _first(row, RATES), _first(row, COSTS)
            yield Quotient(table.page, own, row.get("Baseline tokens/s", ""), row[heading])
            yield Quotient(table.page, row.get("Tokens per round", ""), cost, row[heading])
        if "First over second" in row:
            first, second = row["Speedup through the first"], row["Speedup through the second"]
            yield Quotient(table.page, first, second, row["First over second"])


def _of_submissions(pages: Mapping[tuple[str, str], PageTable]) -> Iterator[Quotient]:
    """Yield quotients from a submission's page, where speedups and rates are in two tables."""
    for (page, name), table in pages.items():
        arm = name.removeprefix("Further figures of arm ")
        verdicts = pages.get((page, f"Verdicts of arm {arm}"))
        if verdicts is None or arm == name:
            continue
        by_task = {row["Task"]: row for row in verdicts.rows}
        for row in table.rows:
            speedup = by_task[row["Task"]]["Speedup per token [this machine]"]
            yield Quotient(page, row["Tokens/s"], row["Baseline tokens/s"], speedup)


def _of_columns(site: Path) -> Iterator[Quotient]:
    """Yield quotients from the columnar file behind the rows of Explore and Compare."""
    (path,) = (site / "assets" / "explore").glob("cells.*.json")
    figures = json.loads(path.read_text("utf-8"))["figures"]
    columns = [_decimals(figures[name]) for name in ("tokens", "cost", "speedup")]
    assert len(columns[0]) > 100
    for number, (tokens, cost, speedup) in enumerate(zip(*columns, strict=True)):
        yield Quotient(f"cell {number}", tokens, cost, speedup)


def _decimals(column: Mapping[str, Any]) -> list[str]:
    """The figures of a column as printed; unknown ones are empty."""
    places = column["digits"] + column["spare"]
    values = (None if each is None else each / 10**places for each in column["values"])
    return ["" if each is None else f"{each:.{column['digits']}f}" for each in values]


def _compare_columns(path: Path) -> None:
    """Check every row of a data file, to the last digit."""
    table = pl.read_csv(path, infer_schema_length=None)
    for over, under, ratio in (
        ("tps", "baseline_tps", "speedup"),
        ("tokens_per_round", "round_cost", "speedup"),
        ("baseline_request_ms", "request_ms", "whole_request"),
    ):
        if {over, under, ratio} <= set(table.columns):
            known = table.drop_nulls([over, under, ratio])
            assert len(known), (path.name, ratio)
            quotient = known[over] / known[under] / known[ratio]
            assert (quotient - 1).abs().max() < 1e-9, (path.name, ratio)  # type: ignore[operator]


def _compare_devices(site: Path) -> None:
    """Check each device's file for programs."""
    rows = [
        row
        for path in (site / "data" / "devices").glob("*.json")
        for row in json.loads(path.read_text("utf-8"))["speedups"]
    ]
    assert len(rows) > 100
    for row in rows:
        if row["speedup"] and row["tps"] and row["baseline_tps"]:
            assert row["tps"] / row["baseline_tps"] == pytest.approx(row["speedup"])
        if row["speedup"] and row["tokens_per_round"] and row["round_cost"]:
            assert row["tokens_per_round"] / row["round_cost"] == pytest.approx(row["speedup"])


def _first(row: Mapping[str, str], headings: Iterable[str]) -> str:
    return next((row[each] for each in headings if each in row), "")
