"""Two new accounts take no cell and no sign from the results on main, where nobody is known."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.data.database import open_database
from tests.pipeline.tables import put, rows
from tests.samples import sample
from tests.sites import PUBLISHED

COMMUNITY = PUBLISHED.parent / "community"
CELLS = "select cell, verdict, mark, round(speedup, 4) from cell where task <> 'all' order by cell"
SERIOUS = "select submission, flag from flag where severity = 'serious' order by all"


@pytest.mark.results
@pytest.mark.long
def test_two_new_accounts_with_other_layers_take_no_cell_from_others(tmp_path: Path) -> None:
    shutil.copytree(COMMUNITY, tmp_path / "community")
    before = open_database(tmp_path)
    expected, serious = rows(before, CELLS), set(rows(before, SERIOUS))
    for number, account in enumerate(("eve", "mal")):
        own = sample(seed=number, tasks=("code",), prompts_per_task=2, parameters=135_000_000)
        target = replace(own.target, name="SmolLM2-135M-Instruct", layers=33)
        put(tmp_path, replace(own, contributor=account, target=target))

    after = open_database(tmp_path)

    assert {*rows(after, CELLS)} >= {*expected}
    assert {each for each in rows(after, SERIOUS) if each[1] == "another-model"} == set()
    assert {*rows(after, SERIOUS)} >= serious
