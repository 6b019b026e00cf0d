"""The site makes no false statement that a visitor would act on: one constructed case each."""

import re
from dataclasses import replace
from importlib import resources

import duckdb

from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.model import Site
from pipeline.site.rows import read
from tests.pipeline.tables import Example, campaign, database, entry, one, print_figures, rows

SITE = Site(bundle="x.js")


def through(runner: str, plain_tps: float, speedup: float = 1.5, **given: str) -> Example:
    """A clear result of one engine, by default a gain, with its rates."""
    near = (speedup * 0.97, speedup * 1.03)
    made = campaign(speedup, within=near, task=None, baseline_tps=plain_tps, **given)
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
    assert "each person\u2019s median; these medians range from 1.20\u00d7 to 2.60\u00d7." in page
    assert "reconstructed from the source" in page


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
