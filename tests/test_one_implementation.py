"""The terminal and the site give the same figures for a result."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from tests.pipeline.tables import real_database

ROOT = Path(__file__).parents[1]
RESULTS = sorted((ROOT / "results" / "community").glob("*.json"))
# A few results suffice: the collection grows, but the compared code does not. They are from
# `real_database`, because no accepted result may break a test.
KNOWN = set((ROOT / "tests" / "data" / "addresses-of-results.txt").read_text("utf-8").split())
COMPARED = [path for path in RESULTS if f"submissions/{path.stem}/" in KNOWN][:3]
FIGURES = ("verdict", "speedup", "tokens_per_round", "round_cost", "acceptance_rate", "prompts")


def test_there_are_at_least_two_results() -> None:
    assert len(RESULTS) >= 2


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
