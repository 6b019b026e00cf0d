"""The site makes no false statement: constructed cases, random machines and random results."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

import duckdb
import pytest

from bench.statements import RULES, Said, collection, contradicted, sentences
from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.home import home
from pipeline.site.pages.model import Site
from pipeline.site.rows import read
from tests.nightly import few
from tests.pipeline.tables import Example, campaign, database, entry, one, print_figures, rows

SITE = Site(bundle="x.js")
MACHINES = 40
SIZES = (3, 7, 14, 32)
PEOPLE = ("ada", "bob", "cyd", "dan")
ENGINES = ("llama.cpp", "vLLM", "MLX", "llama.cpp, turboquant fork")
RUNNERS = {"llama-server": "llama.cpp server", "llama-cpp-python": "llama.cpp"}
COUNTED = {"break_even", "whole_map", "finding"}
# Three seeds whose collections have every kind of sentence. `python -m bench.statements` reads 500.
SEEDS = ((5, 8, 9), range(12))


def through(runner: str, plain_tps: float, speedup: float = 1.5, **given: Any) -> Example:  # noqa: ANN401 - of `campaign`
    """A clear result of one engine over all tasks, by default a gain, with its rates."""
    usual = {"within": (speedup * 0.97, speedup * 1.03), "task": None}
    made = campaign(speedup, baseline_tps=plain_tps, **{**usual, **given})
    engine = replace(made.submission.engine, runner=runner)
    (estimate,) = made.summary.estimates
    estimate = replace(estimate, tps=speedup * plain_tps)
    return entry(
        replace(made.submission, engine=engine), replace(made.summary, estimates=(estimate,))
    )


def page_of_the_card(connection: duckdb.DuckDBPyConnection) -> str:
    """The page of the card that `campaign` measures on."""
    return next(
        page.text
        for page in place_pages(connection, SITE, ["device"])
        if page.path == "devices/rtx-4060-8-gb.md"
    )


# ---- commands that hurt ------------------------------------------------------------------------
def test_a_setting_slower_than_another_plain_engine_has_no_command() -> None:
    """1.5 x 20 tokens/s is less than the 50 of the other engine without a draft."""
    slow = through("llama-cpp-python", 20, contributor="ada")
    fast = through("llama-server", 50, speedup=0.7, contributor="bob")

    page = page_of_the_card(database(slow, fast))

    assert "Plain llama.cpp server is faster here:" in page
    assert "Run it" not in page
    assert "Try it" not in page


def test_other_weights_of_another_engine_beat_nothing() -> None:
    own = through("llama-server", 20, contributor="ada")
    other = through("llama-cpp-python", 50, contributor="bob", quantisation="Q8_0")

    assert rows(
        database(own, other),
        "select distinct other_engine, other_tps from candidate"
        " where engine_label = 'llama.cpp server'",
    ) == [(None, None)]


def test_an_unbeaten_setting_is_picked_before_a_beaten_one() -> None:
    beaten = through("llama-cpp-python", 20, contributor="ada")
    smaller = through("llama-server", 50, speedup=1.4, contributor="bob")

    assert one(
        database(beaten, smaller),
        "select round(speedup, 2), other_tps from best where place = 'device'",
    ) == (1.4, None)


def test_a_setting_below_one_has_no_command_at_all() -> None:
    unclear = campaign(0.75, within=(0.5, 1.1), task=None)

    page = page_of_the_card(database(unclear))

    assert "none is clearly faster. Leave speculation off." in page
    assert "As command lines" not in page
    assert "Run it" not in page
    assert "--method draft-model" not in page


# ---- what others print --------------------------------------------------------------------------
def page_of_figures(*listed: tuple[str, float, str, bool]) -> str:
    """The page of a card with figures: person, speedup, engine, whether the runs differ in more."""
    names = ("person", "speedup", "engine", "differs")
    figures = (dict(zip(names, each, strict=True)) for each in listed)
    pages = place_pages(print_figures(database(), *figures), SITE, ["device"])
    return next(page.text for page in pages if page.path == "devices/card.md")


def test_the_headline_is_the_median_over_people_of_each_ones_median() -> None:
    page = page_of_figures(
        *(("ada", value, "llama.cpp", False) for value in (3.0, 2.4, 2.6)),
        ("bob", 1.2, "llama.cpp", False),
        ("eve", 1.6, "llama.cpp", False),
        ("eve", 4.0, "llama.cpp", True),  # differs in more than speculation
    )

    # Medians 2.6, 1.2 and 1.6.
    assert "<strong>1.60\u00d7</strong>" in page
    assert "3 people published 1.20\u00d7 to 2.60\u00d7; this is the figure in the middle." in page
    assert 'href="../../?card=Card&amp;model=M-8B#mine"' in page


def test_a_confounded_run_leads_only_without_others_and_is_marked() -> None:
    page = page_of_figures(("ada", 2.5, "llama.cpp", True))

    assert "<strong>\u2248 2.50\u00d7</strong>" in page
    assert "the two runs differ in more than speculation" in page
    assert "Run it" not in page


def test_an_engine_without_a_known_server_has_no_command() -> None:
    page = page_of_figures(("ada", 3.0, "llama.cpp, turboquant fork", False))

    assert "Run it" not in page


def test_a_figure_below_one_has_no_command() -> None:
    page = page_of_figures(("ada", 0.89, "llama.cpp", False))

    assert "leave speculation off" in page
    assert "As command lines" not in page
    assert "<pre>" not in page


# ---- noise is not ranked ------------------------------------------------------------------------
def test_unclear_settings_are_not_ranked() -> None:
    connection = database(
        campaign(3.03, within=(0.1, 90), task="math", depth=4),
        campaign(0.97, within=(0.6, 1.6), task="code", depth=5),
        campaign(1.5, within=(1.45, 1.55), task="chat", depth=6),
    )

    listed = [(row.task, row.verdict) for row in read(connection, "best_settings", kind="device")]

    assert listed[0] == ("chat", "helps")
    assert [task for task, _ in listed[1:]] == ["code", "math"]  # as tasks are listed everywhere


def test_an_arm_with_mostly_failed_trials_is_not_the_best_method() -> None:
    made = campaign(3.0, within=(2.9, 3.1), task=None)
    (estimate,) = made.summary.estimates
    estimate = replace(estimate, trials=4, failed_trials=8)
    failed = entry(made.submission, replace(made.summary, estimates=(estimate,)))

    assert one(database(failed), "select best_method_label from submission_overview") == (None,)


def test_the_example_for_duckdb_ranks_clear_settings_by_their_lower_bound() -> None:
    text = resources.files("pipeline.site").joinpath("templates/data.md.jinja").read_text("utf-8")
    (where,) = re.findall(r"where task = 'code' .*(?=\")", text)
    connection = database(
        campaign(3.99, verdict="never-drafted"),
        campaign(1.5, within=(0.1, 20), depth=5),
        campaign(1.4, within=(1.35, 1.45), depth=6),
        campaign(1.3, within=(1.28, 1.32), depth=7),
    )

    found = rows(connection, f"select round(speedup, 2) from cell {where}")  # noqa: S608 - ours

    assert found == [(1.4,), (1.3,)]


# ---- random machines: pages claim no more than people measured and published -------------------
@dataclass(kw_only=True)
class TypedMachine:
    """A card with one model: measurements through each engine, and published figures."""

    label: str
    memory: int
    size: int
    measured: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    printed: list[dict[str, Any]] = field(default_factory=list)

    @property
    def model(self) -> str:
        return f"Sample-{self.size}B"

    def best_plain(self) -> float:
        return max((plain for plain, _, _ in self.measured.values()), default=0.0)

    def campaigns(self) -> Iterator[Example]:
        for runner, (plain, speedup, low) in self.measured.items():
            yield through(
                runner,
                plain,
                speedup,
                within=(low, speedup**2 / low),
                task="code",
                tokens_per_round=2.0 * speedup,
                round_cost=2.0,
                gpu=f"NVIDIA GeForce {self.label.rsplit(' ', 2)[0]}",
                vram_mib=self.memory * 1024,
                parameters=self.size * 10**9,
                contributor=f"{runner}-{self.label}".lower().replace(" ", "-"),
            )


def machine(rng: random.Random, number: int) -> TypedMachine:
    memory = rng.choice((6, 8, 12, 24))
    made = TypedMachine(
        label=f"RTX 9{number:03} {memory} GB", memory=memory, size=rng.choice(SIZES)
    )
    for runner in rng.sample(sorted(RUNNERS), rng.choice((0, 0, 1, 2))):
        speedup = rng.lognormvariate(0.1, 0.4)
        low = speedup / rng.choice((1.02, 1.1, 1.6))
        made.measured[runner] = (rng.uniform(10, 60), speedup, low)
    for _ in range(rng.choice((0, 0, 1, 2, 5))):
        made.printed.append(
            {
                "depth": rng.choice((2, 2, 4)),
                "speedup": rng.lognormvariate(0.3, 0.5),
                "person": rng.choice(PEOPLE),
                "engine": rng.choice(ENGINES),
                "differs": rng.random() < 0.2,
            }
        )
    return made


def tables(machines: list[TypedMachine]) -> duckdb.DuckDBPyConnection:
    connection = database(*(each for one in machines for each in one.campaigns()))
    figures = (
        {
            **figure,
            "device": one.label.lower().replace(" ", "-"),
            "device_label": one.label,
            "vram_gib": one.memory,
            "target": one.model,
            "parameters": one.size * 1e9,
        }
        for one in machines
        for figure in one.printed
    )
    return print_figures(connection, *figures)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The home page and the pages of all devices and models of one world, by path."""
    rng = random.Random(0)  # noqa: S311 - simulated machines
    connection = tables([machine(rng, number) for number in range(MACHINES)])
    made = (home(connection, SITE, ()), *place_pages(connection, SITE))
    return {each.path: each.text for each in made}


def test_a_page_with_figures_says_once_that_the_measured_ones_are_greedy(
    pages: dict[str, str],
) -> None:
    assert {text.count("greedy") for text in pages.values()} == {1}


def test_the_rates_with_and_without_speculation_on_a_page_divide_to_its_speedup(
    pages: dict[str, str],
) -> None:
    rates = re.compile(
        r"dm-two-columns.*?([\d.]+)\N{MULTIPLICATION SIGN}"
        r".*?Plain tokens/s\">([\d.]+)<.*?>([\d.]+)<",
        re.DOTALL,
    )
    rows = re.findall(r"<tr.*?</tr>", "".join(pages.values()), re.DOTALL)
    found = [each.groups() for line in rows if (each := rates.search(line))]

    assert len(found) > MACHINES / 4
    for speedup, plain, own in found:
        assert float(own) / float(plain) == pytest.approx(float(speedup), rel=0.006, abs=0.006)


# ---- random results: no sentence with a number is contradicted by its table --------------------
@pytest.fixture(scope="module", params=few(SEEDS, 1))
def said(request: pytest.FixtureRequest) -> list[Said]:
    rngs = [random.Random(seed) for seed in request.param]  # noqa: S311 - simulated results
    return [each for rng in rngs for each in sentences(collection(rng))]


def test_sentences_about_random_collections_agree_with_their_tables(said: list[Said]) -> None:
    assert [each.text for each in said if contradicted(each)] == []
    assert {each.kind for each in said} >= RULES.keys() - {"losses"}


def test_a_sentence_with_another_number_is_found(said: list[Said]) -> None:
    counted = [each for each in said if each.kind in COUNTED]
    assert {each.kind for each in counted} == COUNTED
    for each in counted:
        number = re.search(r"\d+(?= of|-| pair| prediction)", each.text)
        assert number is not None
        wrong = f"{each.text[: number.start()]}{int(number[0]) + 1}{each.text[number.end() :]}"
        assert contradicted(each._replace(text=wrong)), wrong
    assert contradicted(Said("losses", "3 of 5, without it 1 of 4", []))
    assert contradicted(Said("depths", "Depth 4 is clearly the best.", []))
