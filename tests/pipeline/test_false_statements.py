"""Nothing on the site that a visitor would act on and be wrong: one made-up case for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipeline.site.pages.model import Site
from pipeline.site.pages.places import device_pages
from tests.pipeline.tables import Example, campaign, database, entry, one, rows

if TYPE_CHECKING:
    import duckdb

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
        for page in device_pages(connection, SITE)
        if page.path == "devices/rtx-4060-8-gb.md"
    )


# ---- commands that hurt ------------------------------------------------------------------------
def test_what_another_engine_beats_without_speculation_has_no_command() -> None:
    """1.5 x 20 tokens/s are fewer than the 50 of the other engine without a draft."""
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
        "select other_engine, other_tps from best"
        " where place = 'machine' and engine_label = 'llama.cpp server'",
    ) == [(None, None)]


def test_what_nothing_beats_is_picked_before_what_is_beaten() -> None:
    beaten = through("llama-cpp-python", 20, contributor="ada")
    smaller = through("llama-server", 50, speedup=1.4, contributor="bob")

    assert one(
        database(beaten, smaller),
        "select round(speedup, 2), other_tps from best where place = 'device'",
    ) == (1.4, None)


def test_a_setting_below_one_has_no_command_at_all() -> None:
    unclear = campaign(0.75, within=(0.5, 1.1), task=None)

    page = page_of_the_card(database(unclear))

    assert "leave speculation off" in page
    assert "Run it" not in page
    assert "--method draft-model" not in page
