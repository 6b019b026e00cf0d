"""Map, charts, data files and answers quote one figure for each device, model and method."""

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from statistics import geometric_mean

import duckdb
import pytest

from pipeline.data.aggregate import view_queries
from pipeline.site.charts import rows_of
from pipeline.site.pages import evidence_file, strips
from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.home import home
from pipeline.site.pages.model import Site
from pipeline.site.rows import Row, grouped, read
from planner.answer import Answer, answer
from planner.evidence import PairFigure
from planner.listed import question_by_name
from planner.machines import MachineWords, described_computer
from planner.words import lines
from schemas.vocabulary import METHODS, say
from tests.nightly import few
from tests.pipeline.tables import database, print_figures, real_database

Figures = Sequence[Mapping[str, object]]
CARDS = {"RTX 3090 24 GB": 24.0, "RTX 5090 32 GB": 32.0, "Apple M4 Max": None}
MODELS = {"Qwen3.8-27B": 27e9, "Qwen3.6-35B-A3B": 35e9}


def collection(seed: int) -> Figures:
    """Random published figures of two models on three cards, some with doubtful company."""
    rng = random.Random(seed)  # noqa: S311 - figures of a test
    return [
        {
            "device": re.sub(r"\W+", "-", card.lower()),
            "device_label": card,
            "vram_gib": CARDS[card],
            "target": model,
            "parameters": MODELS[model],
            "method": rng.choice(["mtp", "dflash", "suffix"]),
            "person": rng.choice(["ada", "bob", "cyd", "dan", "eve"]),
            "depth": rng.choice([2, 3, 4, None]),
            "speedup": round(rng.uniform(0.4, 3.0), 3),
            "plain": rng.choice([None, 20.0, 31.5, 47.0]),
            "concurrency": rng.choice([None, 1, 1, 8]),
            "differs": rng.random() < 0.2,
        }
        for _ in range(rng.randint(1, 40))
        for card in [rng.choice(list(CARDS))]
        for model in [rng.choice(list(MODELS))]
    ]


def median(values: Sequence[float]) -> float:
    """The median of logarithms."""
    ordered = sorted(values)
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return geometric_mean(middle)


def by_hand(figures: Figures) -> dict[tuple[str, str, str], tuple[float, int]]:
    """Each pair's figure with one method, and its people, by the words of the Methodology page."""
    single = [each for each in figures if each["concurrency"] != 8]
    found = {}
    key = lambda each: (each["device"], str(each["target"]).lower(), each["method"])  # noqa: E731
    for pair, own in groupby(sorted(single, key=key), key=key):
        listed = list(own)
        kept = [each for each in listed if not each["differs"]] or listed
        usual = {"mtp": 2, "dflash": 15}.get(pair[2])
        medians = []
        for person in {each["person"] for each in kept}:
            own_figures = [each for each in kept if each["person"] == person]
            depths = sorted(
                {each["depth"] for each in own_figures},
                key=lambda d: (d is None, abs((d or 0) - usual) if usual else 0, d or 0),
            )
            nearest = [each["speedup"] for each in own_figures if each["depth"] == depths[0]]
            medians.append(median(nearest))
        found[pair] = (median(medians), len(medians))
    return found


def asked(row: Row, pairs: Mapping[str, Sequence[PairFigure]]) -> Answer:
    """The answer to a pair's printed names."""
    cards = re.sub(r"(\d{1,3}) \N{MULTIPLICATION SIGN} ", r"\1x ", row.device_label).split(" + ")
    words = MachineWords(gpus=tuple(cards))
    if row.device_kind == "cpu":
        words = MachineWords(gpus=("none",), cpu=row.device_label)
    question = question_by_name(row.target_label, described_computer(words), pairs=pairs)
    assert question is not None
    return answer(question)


def quotes(found: Answer, row: Row) -> bool:
    """Whether the sentences of an answer have a row's people, figure, range and rates."""
    words = " ".join(lines(found))
    who = "one person" if row.people == 1 else f"{row.people} people"
    spread = f" ({row.least:.2f}\N{EN DASH}{row.most:.2f})" if row.people > 1 else ""
    arrow = "\N{RIGHTWARDS ARROW}"
    rates = f"{say.rate(row.baseline_tps)} {arrow} {say.rate(row.tps)}" if row.tps else ""
    label = METHODS[row.method].label
    text = " with English text" if row.tier == "measured" else ""
    figure = f"{say.times(row.speedup)}{re.escape(spread)}{text}"
    shown = rf"{who} \w+ {figure} for this card and model with "
    return any(
        clause.startswith(label) and rates in clause for clause in re.split(shown, words)[1:]
    )


def pairs_of(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Sequence[PairFigure]]:
    return grouped(evidence_file.pairs(connection), lambda pair: pair.model)


@cache
def real_pairs() -> Mapping[str, Sequence[PairFigure]]:
    return pairs_of(real_database())


REAL = strips.main_rows(real_database())


@pytest.mark.parametrize("row", few(REAL, 30), ids=lambda row: f"{row.device}-{row.target}")
def test_an_answer_shows_the_row_of_the_map(row: Row) -> None:
    assert quotes(asked(row, real_pairs()), row)


@pytest.mark.parametrize("seed", few(range(500), 25))
def test_every_page_and_answer_has_the_figure_that_is_computed_by_hand(seed: int) -> None:
    figures = collection(seed)
    connection = print_figures(database(), *figures)
    expected = by_hand(figures)

    by_method = strips.rows_by_method(connection)
    main = {(row.device, row.target): row for row in strips.main_rows(connection)}
    chart = {
        (row["device_label"], row["target_label"], row["method"]): row["speedup"]
        for row in rows_of(connection, "methods")
    }
    exported = read(connection, "main_pair")
    pairs = pairs_of(connection)

    found = {(row.device, row.target, row.method): (row.speedup, row.people) for row in by_method}
    assert found.keys() == expected.keys()
    for pair, (speedup, people) in found.items():
        assert (speedup, people) == (pytest.approx(expected[pair][0]), expected[pair][1])
    for row in by_method:
        assert chart[row.device_label, row.target_label, row.method] == row.speedup
        assert row.tps is None or row.tps == pytest.approx(row.baseline_tps * row.speedup)
        assert row.rated <= row.people
        own = main[row.device, row.target]
        assert own.method != row.method or own.speedup == row.speedup
        assert quotes(asked(row, pairs), row)
    assert [row.speedup for row in exported] == [
        main[row.device, row.target].speedup for row in exported
    ]
    for square in rows_of(connection, "whole_map"):
        if (square["choice"], square["task_label"]) == ("any", "any"):
            assert square["speedup"] in {row.speedup for row in main.values()}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pages_print_the_figure_and_rates_of_a_pair(seed: int) -> None:
    connection = print_figures(database(), *collection(seed))
    site = Site(bundle="x")
    pages = {page.path: page.text for page in place_pages(connection, site)}
    map_text = home(connection, site, ()).text

    groups, _ = strips.by_method(strips.rows_by_method(connection))
    for row in strips.main_rows(connection):
        before, after = strips.rates(row)
        for path in (f"devices/{row.device}.md", f"models/{row.target}.md"):
            lines = [line for line in pages[path].splitlines() if "dm-strip__figure" in line]
            assert any(
                strips.figure(row) in line and strips.setting(row) in line and after in line
                for line in lines
            )
        assert bool(before) == bool(after)
    for each in (strip for group in groups for strip in (*group.strips, *group.folded)):
        assert f">{each.figure}<" in map_text


def test_only_the_query_of_pairs_takes_a_median_over_people() -> None:
    medians = {
        name
        for name, query in view_queries().items()
        if "median" in query and re.search(r"group by[^;]*\bperson\b|group by all", query)
        if "published" in query
    }

    # That of acceptances has no speedup.
    assert medians == {"acceptance", "pair"}
