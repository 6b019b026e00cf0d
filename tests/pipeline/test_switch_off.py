"""A page lists the settings that clearly lose, and the settings that clearly gain beside them."""

from typing import NamedTuple

import duckdb
import pytest

from pipeline.site.pages.switch_off import ClearCases, clear_cases, context_from, streams_from
from pipeline.site.rows import read
from tests.pipeline.tables import campaign, database, real_database, rows


class SwitchOffCase(NamedTuple):
    concurrency: int
    context_depth: int | None
    effect: str


def cases(connection: duckdb.DuckDBPyConnection) -> tuple[ClearCases, ...]:
    return clear_cases(read(connection, "switch_off"))


def test_only_clear_verdicts_are_listed() -> None:
    (found,) = cases(
        database(
            campaign(1.5, within=(1.4, 1.6), task="code", seed=1),
            campaign(0.8, within=(0.75, 0.85), task="chat", seed=2),
            campaign(1.1, within=(0.9, 1.3), task="math", seed=3),
        )
    )

    assert [(row.task, round(row.speedup, 2)) for row in found.gains] == [("code", 1.5)]
    assert [(row.task, round(row.speedup, 2)) for row in found.loses] == [("chat", 0.8)]
    assert (found.streams_from, found.context_from) == (None, None)


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

    found = cases(database(known, unknown, elsewhere, new=("eve",)))

    assert [
        (each.setting.device, [row.task for row in (*each.gains, *each.loses)]) for each in found
    ] == [("rtx-3060-8-gb", ["code"]), ("rtx-4060-8-gb", ["chat"])]


def test_without_a_clear_verdict_nothing_is_listed() -> None:
    assert cases(database(campaign(1.1, within=(0.9, 1.3)))) == ()


@pytest.mark.parametrize(
    ("settings", "streams", "context"),
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
    settings: list[SwitchOffCase], streams: int | None, context: int | None
) -> None:
    assert (streams_from(settings), context_from(settings)) == (streams, context)


def test_every_case_is_a_cell_and_says_what_it_says() -> None:
    cells = rows(
        real_database(),
        "select cell, verdict = 'helps' from cell"
        " where verdict in ('helps', 'hurts', 'slower-in-all')",
    )

    listed = [
        (row.cell, row.effect == "gains")
        for each in cases(real_database())
        for row in (*each.gains, *each.loses)
    ]
    assert sorted(listed) == sorted(cells)
