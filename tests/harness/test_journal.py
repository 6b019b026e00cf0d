"""Is everything on disk that was measured, and nothing read back that was not whole?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.errors import BadInputError
from harness.journal import Journal, Resumed, SnapshotFact, Started, read
from schemas.submission import Snapshot
from tests.harness.campaigns import campaign

if TYPE_CHECKING:
    from pathlib import Path

FACT = SnapshotFact(snapshot=Snapshot(moment="before", load_1min=0.25))
MOMENT = "2026-11-21T09:00:00Z"


def test_facts_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.create(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)

    facts = read(path)

    assert isinstance(facts[0], Started)
    assert facts[1:] == [FACT]


def test_a_fact_is_on_disk_before_the_next_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.create(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)

        assert read(path)[-1] == FACT


@pytest.mark.parametrize("lost", [1, 5, 40])
def test_a_torn_last_line_is_cut_off_and_the_rest_kept(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.create(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)
        journal.add(FACT)
    path.write_bytes(path.read_bytes()[:-lost])

    with Journal.reopen(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)

    assert [type(fact) for fact in read(path)] == [Started, SnapshotFact, Resumed, SnapshotFact]


def test_a_journal_of_another_campaign_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Journal.create(path, campaign(seed=1), measured_from=MOMENT).__exit__(None, None, None)

    with pytest.raises(BadInputError, match="other options or models"):
        Journal.reopen(path, campaign(seed=2), measured_from=MOMENT)


def test_a_missing_journal_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="nothing to resume"):
        read(tmp_path / "none.jsonl")


def test_a_file_that_is_no_journal_is_said(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"fact": {"type": "unheard-of"}}\n')

    with pytest.raises(BadInputError, match="no journal of this version"):
        read(path)
