"""The file for programs lists the settings that clearly lose in cells, in a closed format."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest
from jsonschema import Draft202012Validator

from pipeline.site.pages.switch_off import context_from, streams_from, switch_off_file
from tests.pipeline.tables import campaign, database, real_database, rows

SCHEMA = Path(__file__).parents[2] / "schemas" / "switch_off.v1.schema.json"


class SwitchOffCase(NamedTuple):
    concurrency: int
    context_depth: int | None
    effect: str


def document(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(switch_off_file(connection).data)
    Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(found)
    return found


def test_only_clear_verdicts_are_in_the_file() -> None:
    (setting,) = document(
        database(
            campaign(1.5, within=(1.4, 1.6), task="code", seed=1),
            campaign(0.8, within=(0.75, 0.85), task="chat", seed=2),
            campaign(1.1, within=(0.9, 1.3), task="math", seed=3),
        )
    )["settings"]

    listed = {
        effect: [(case["task"], case["speedup"]) for case in setting[effect]]
        for effect in ("gains", "loses")
    }
    assert listed == {"gains": [("code", 1.5)], "loses": [("chat", 0.8)]}
    assert (setting["streams_from"], setting["context_from"]) == (None, None)


def test_an_unknown_account_does_not_change_advice_from_known_people() -> None:
    known = campaign(0.8, within=(0.75, 0.85), task="chat", seed=1, contributor="ada")
    unknown = campaign(1.5, within=(1.4, 1.6), task="code", seed=2, contributor="eve")
    elsewhere = campaign(
        1.5,
        within=(1.4, 1.6),
        task="code",
        seed=3,
        contributor="eve",
        gpu="NVIDIA GeForce RTX 3060",
    )

    found = document(database(known, unknown, elsewhere, new=("eve",)))["settings"]

    assert [
        (each["device"], [case["task"] for case in (*each["gains"], *each["loses"])])
        for each in found
    ] == [("rtx-3060-8-gb", ["code"]), ("rtx-4060-8-gb", ["chat"])]


def test_without_a_clear_verdict_the_file_is_empty() -> None:
    assert document(database(campaign(1.1, within=(0.9, 1.3))))["settings"] == []


@pytest.mark.parametrize(
    ("cases", "streams", "context"),
    [
        (
            [
                SwitchOffCase(1, None, "gains"),
                SwitchOffCase(4, None, "loses"),
                SwitchOffCase(8, None, "loses"),
            ],
            4,
            None,
        ),
        # A gain at eight streams: the loss at four is not a threshold.
        (
            [
                SwitchOffCase(4, None, "loses"),
                SwitchOffCase(8, None, "gains"),
                SwitchOffCase(16, None, "loses"),
            ],
            16,
            None,
        ),
        # One stream is the usual case, and no threshold.
        ([SwitchOffCase(1, None, "loses")], None, None),
        ([SwitchOffCase(1, None, "gains"), SwitchOffCase(1, 4096, "loses")], None, 4096),
    ],
)
def test_a_threshold_has_losses_and_no_gain_above_it(
    cases: list[SwitchOffCase], streams: int | None, context: int | None
) -> None:
    assert (streams_from(cases), context_from(cases)) == (streams, context)


def test_every_case_is_a_cell_and_says_what_it_says() -> None:
    cells = {
        row[0]: row[1:] for row in rows(real_database(), "select cell, verdict, speedup from cell")
    }

    settings = document(real_database())["settings"]

    listed = [
        (effect, case)
        for each in settings
        for effect in ("gains", "loses")
        for case in each[effect]
    ]
    clear = [
        cell
        for cell, (verdict, _) in cells.items()
        if verdict in {"helps", "hurts", "slower-in-all"}
    ]
    assert sorted(case["cell"] for _, case in listed) == sorted(clear)
    for effect, case in listed:
        verdict, speedup = cells[case["cell"]]
        assert (effect == "gains") == (verdict == "helps")
        assert case["speedup"] == pytest.approx(speedup, abs=5e-5)
