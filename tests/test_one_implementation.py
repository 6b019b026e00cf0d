"""The terminal and the site give the same figures for a result."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from tests.first_results import FIRST
from tests.pipeline.tables import real_database

ROOT = Path(__file__).parents[1]
# A few results suffice: the collection grows, but the compared code does not.
COMPARED = FIRST[:3]
FIGURES = ("verdict", "speedup", "tokens_per_round", "round_cost", "acceptance_rate", "prompts")


@pytest.mark.parametrize("result", COMPARED, ids=lambda path: path.stem)
def test_show_and_the_tables_of_the_site_agree(result: Path) -> None:
    shown = json.loads(CliRunner().invoke(app, ["show", str(result), "--json"]).stdout)

    columns = ", ".join(FIGURES)
    rows = (
        real_database()
        .execute(
            f"select arm, task, {columns} from estimate where submission = ?",  # noqa: S608 - our own column names
            [result.stem],
        )
        .fetchall()
    )

    said = {
        (row["arm"], row.get("task")): tuple(row.get(name) for name in FIGURES)
        for row in shown["estimates"]
    }
    assert said
    assert {(arm, task): tuple(values) for arm, task, *values in rows} == said
