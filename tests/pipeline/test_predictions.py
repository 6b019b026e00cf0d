"""The shipped medians follow from the results, and the ledger's entries never change."""

import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import resources

import pytest

from bench.predictions import accepted
from bench.predictions.__main__ import FIGURES, LEDGER, Inputs, inputs_of, shipped
from bench.predictions.folds import fold_of, left_out, predictions
from bench.predictions.ledger import accuracy, ledger_file, months, read, updated
from bench.predictions.measures import Scored, errors, held, people, side
from bench.predictions.rows import Seen
from bench.predictions.typical import medians
from planner.acceptance import fitted
from planner.estimate import typical
from planner.kinds import machine_kind
from tests.nightly import few
from tests.pipeline.tables import real_database

MOST_BYTES = 20_000
SHIPPED = json.loads(FIGURES.read_bytes())
World = Callable[[Seen, random.Random], float]


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return inputs_of(real_database())


def test_the_shipped_medians_have_the_kinds_of_the_results(inputs: Inputs) -> None:
    """They are renewed occasionally; a figure that was merged since then moves their values."""
    made, ships = shipped(inputs), typical()

    assert ships.digest == SHIPPED["digest"]
    assert len(ships.kinds.keys() & made.kinds.keys()) >= 0.9 * len(made.kinds)


def test_the_file_is_small_enough_to_read() -> None:
    data = resources.files("planner").joinpath("fitted.json").read_bytes()

    assert len(data) <= MOST_BYTES


def row(truth: float, person: str, source: str, *, like: Seen) -> Seen:
    return replace(like, truth=truth, person=person, source=source)


def test_each_person_has_one_voice_and_a_source_at_most_three(inputs: Inputs) -> None:
    like = inputs.rows[0]
    sweep = [row(2.0, "ada", "a", like=like)] * 50
    crowd = [row(1.0, f"of the thread {n}", "thread", like=like) for n in range(30)]
    others = [row(0.0, name, name, like=like) for name in ("bob", "cyd", "dan", "eve", "fay")]

    def median_of(rows: Sequence[Seen]) -> tuple[float, float]:
        return medians([(each, each.truth) for each in rows], lambda _: "")[""]

    assert median_of(sweep) == (2.0, 1.0)
    assert median_of([*sweep, *others]) == (0.0, 6.0)
    # Thirty people of one thread are three of eight voices.
    assert median_of([*crowd, *others]) == (0.0, pytest.approx(8.0))


def test_a_source_is_left_out_as_a_whole(inputs: Inputs) -> None:
    folds = {row.source: {fold_of(row.source)} for row in inputs.rows}

    assert {len(each) for each in folds.values()} == {1}
    assert set().union(*folds.values()) == set(range(10))


def test_predictions_of_whole_other_sources_are_as_good_as_required(
    inputs: Inputs,
) -> None:
    found = left_out(inputs.rows)

    assert errors(found)[1] <= 1.28
    assert errors([one for one in found if one.stated])[1] <= 1.26
    for share in held(found):
        assert 0.86 <= share <= 0.94
    assert min(side(found)) >= 0.77


def test_a_stated_acceptance_makes_predictions_as_good_as_required(inputs: Inputs) -> None:
    found = accepted.left_out(accepted.deviations(inputs.rows))

    by_rows, by_people = errors(found)
    assert by_rows <= 1.20
    assert by_people <= 1.20
    rows_held, people_held = held(found)
    assert 0.85 <= rows_held <= 0.94  # 0.86 with the files that these tests leave out
    assert 0.86 <= people_held <= 0.94


def test_the_shipped_costs_have_the_kinds_of_the_results(inputs: Inputs) -> None:
    made, ships = accepted.fitted_to(inputs.rows), fitted()

    assert len(ships.costs.kinds.keys() & made.costs.kinds.keys()) >= 0.9 * len(made.costs.kinds)
    assert len(ships.usual.keys() & made.usual.keys()) >= 0.9 * len(made.usual)


def another(known: Sequence[Seen], asked: Iterable[Seen]) -> Iterator[tuple[Seen, Scored]]:
    """A predictor that says 3.00 of everything."""
    for row, one in predictions(known, asked):
        yield row, replace(one, middle=math.log(3.0))


def test_entries_of_the_ledger_survive_a_change_of_the_predictor(inputs: Inputs) -> None:
    early = [row for row in inputs.rows if row.day < "2025-06"]
    late = [row for row in inputs.rows if row.day < "2025-12"]

    first = updated([], early)
    second = updated(first, late, predict=another)

    assert second[: len(first)] == first
    assert len(second) > len(first)
    assert {entry["predicted"] for entry in second[len(first) :]} == {"3.000"}
    assert updated(second, late) == second
    assert {entry["predicted"] for entry in first} != {"3.000"}


def test_the_shipped_ledger_is_kept_by_the_next_run(inputs: Inputs) -> None:
    old = read(LEDGER)

    made = updated(old, inputs.rows)

    assert made[: len(old)] == old
    assert ledger_file(old) == LEDGER.read_text("utf-8")


def test_predictions_in_the_ledger_use_no_data_of_their_month(inputs: Inputs) -> None:
    early = [row for row in inputs.rows if row.day < "2025-06"]
    known_in_april = sum(bool(row.day) and row.day[:7] < "2025-04" for row in early)

    april = [entry for entry in updated([], early) if entry["day"].startswith("2025-04")]

    assert {entry["known"] for entry in april} == {str(known_in_april)}


def test_the_error_that_is_printed_is_that_of_the_ledger() -> None:
    ledger = read(LEDGER)

    assert typical().accuracy == accuracy(ledger)
    last = [*months(ledger)][-1]
    assert last == SHIPPED["months"][-1]
    assert last["off"] == typical().accuracy["all"].off


def answered(inputs: Inputs, world: World) -> Sequence[Scored]:
    """Predict whole sources in a world with other speedups."""
    chance = random.Random(5)  # noqa: S311 - a repeatable draw
    person = {row.person: chance.gauss(0, 0.05) for row in inputs.rows}
    rows = [replace(row, truth=world(row, chance) + person[row.person]) for row in inputs.rows]
    return left_out(rows)


def recommended(found: Sequence[Scored]) -> float:
    """The share of predictions of at least 1.1, below which nothing is recommended."""
    return sum(one.middle >= math.log(1.1) for one in found) / len(found)


def test_nothing_is_recommended_if_nothing_gains(inputs: Inputs) -> None:
    found = answered(inputs, lambda _, chance: math.log(chance.uniform(0.7, 1.0)))

    assert recommended(found) <= 0.02


@pytest.mark.parametrize("speedup", few([1.3, 1.6, 2.4], 1))
def test_if_all_settings_gain_alike_most_are_predicted_to(inputs: Inputs, speedup: float) -> None:
    found = answered(inputs, lambda _, chance: math.log(speedup) + chance.gauss(0, 0.05))

    assert recommended(found) >= 0.95
    assert errors(found)[1] <= 1.1


def gains(row: Seen) -> bool:
    """Select about half of the settings, by kind of machine and method."""
    return sum(f"{machine_kind(row.case.rig)} {row.case.kind}".encode()) % 2 == 0


def test_if_half_of_the_kinds_gain_most_of_those_are_recommended(inputs: Inputs) -> None:
    found = answered(
        inputs, lambda row, chance: math.log(1.5 if gains(row) else 1.0) + chance.gauss(0, 0.05)
    )

    gaining = [one for one in found if one.truth > math.log(1.25)]
    assert people(gaining) > 20
    assert recommended(gaining) >= 0.7
