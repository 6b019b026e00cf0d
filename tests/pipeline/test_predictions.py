"""The shipped fit follows from the results, and claims no gain if there is none."""

import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from answers.effects import machine_kind
from answers.predict import fitted
from bench.predictions import tables
from bench.predictions.__main__ import FIGURES, LEDGER, Inputs, inputs_of
from bench.predictions.fit import design_of
from bench.predictions.folds import Predicted, fit_of, left_out, with_reach
from bench.predictions.ledger import entries, ledger_file
from bench.predictions.rows import Seen
from pipeline.data.database import open_database
from tests.nightly import few
from tests.pipeline.tables import RESULTS

MOST_BYTES = 200_000
CHECKED = (3, 11)  # folds that are recomputed
PROBABLE = 0.8
# A new result moves an effect of its own device most. More of them than this: the fit is old.
MOVED, AGED = 0.1, 1.1
SHIPPED = json.loads(FIGURES.read_bytes())
World = Callable[[Seen, random.Random], float]


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return inputs_of(open_database(RESULTS))


@pytest.fixture(scope="module")
def tolerance(inputs: Inputs) -> float:
    """Tolerance for the shipped fit: later results move the current one a little."""
    return 2e-4 if inputs.digest == SHIPPED["digest"] else MOVED


def test_the_shipped_fit_matches_its_tables_and_is_recent(inputs: Inputs) -> None:
    figures = SHIPPED["goals"][0]["figures"]

    assert fitted().digest == SHIPPED["digest"]
    assert 1 / AGED <= len(inputs.rows) / figures <= AGED, "renew it: make predictions"


def test_the_shipped_effects_equal_those_of_the_fit(inputs: Inputs, tolerance: float) -> None:
    made = fit_of(inputs.design, np.ones(len(inputs.rows), dtype=bool))

    both = made.effects.keys() & fitted().effects.keys()
    assert len(both) >= (1 - tolerance) * len(made.effects.keys() | fitted().effects.keys())
    for name in both:
        assert made.effects[name] == pytest.approx(fitted().effects[name], abs=tolerance)
    assert made.spreads.keys() == fitted().spreads.keys()
    assert tolerance == MOVED or made.spreads == fitted().spreads  # chosen from a few


@pytest.mark.parametrize("fold", few(CHECKED, 1))
def test_a_recomputed_fold_equals_the_published_one(
    inputs: Inputs, tolerance: float, fold: int
) -> None:
    found = [*left_out(inputs.rows, inputs.design, (fold,))]

    shown = [line for line in SHIPPED["folds"] if line["fold"] == fold]
    for made, line in zip(tables.folds(found), shown, strict=True):
        assert made["figures"] == pytest.approx(line["figures"], rel=tolerance, abs=1)
        assert made["off"] == pytest.approx(line["off"], abs=10 * tolerance)


def test_the_file_is_small_enough_to_ship() -> None:
    data = resources.files("answers").joinpath("fitted.json").read_bytes()

    assert len(data) <= MOST_BYTES


def test_predictions_in_the_ledger_use_no_data_of_their_month(inputs: Inputs) -> None:
    early = [row for row in inputs.rows if row.day < "2025-06"]
    known_in_april = sum(row.day[:7] < "2025-04" for row in early)

    made = [*entries(early)]

    april = [entry for entry in made if str(entry["day"]).startswith("2025-04")]
    assert {entry["known"] for entry in april} == {known_in_april}
    assert ledger_file(made) == "".join(
        LEDGER.read_text("utf-8").splitlines(keepends=True)[: len(made) + 1]
    )


def answered(inputs: Inputs, world: World) -> Sequence[Predicted]:
    """Predict the people of some folds in a world with other speedups."""
    chance = random.Random(5)  # noqa: S311 - a repeatable draw
    person = {row.person: chance.gauss(0, 0.05) for row in inputs.rows}
    rows = [
        replace(row, log_speedup=world(row, chance) + person[row.person]) for row in inputs.rows
    ]
    return with_reach([*left_out(rows, design_of(rows), range(0, 20, 4))])


def share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


def probable(found: Sequence[Predicted]) -> float:
    return share([one.chance >= PROBABLE for one in found])


def test_predictions_rarely_recommend_a_setting_if_none_gains(inputs: Inputs) -> None:
    found = answered(inputs, lambda _, chance: math.log(chance.uniform(0.7, 1.0)))

    assert probable(found) <= 0.02


@pytest.mark.nightly
def test_predictions_rarely_refuse_a_setting_if_all_gain(inputs: Inputs) -> None:
    found = answered(inputs, lambda _, chance: math.log(1.3) + chance.gauss(0, 0.05))

    assert share([one.middle + one.reach < 0 for one in found]) <= 0.02


def gains(row: Seen) -> bool:
    """Select about half of the settings, by kind of machine and method."""
    kind = machine_kind(row.case.rig, unified=row.case.unified)
    return sum(f"{kind} {row.case.kind}".encode()) % 2 == 0


@pytest.mark.nightly
def test_if_half_of_the_settings_gain_most_of_them_are_recommended(inputs: Inputs) -> None:
    found = answered(
        inputs, lambda row, chance: math.log(1.5 if gains(row) else 1.0) + chance.gauss(0, 0.05)
    )

    gaining = [one for one in found if gains(one.row)]
    assert 0.3 < len(gaining) / len(found) < 0.7
    assert probable(gaining) >= 0.7
