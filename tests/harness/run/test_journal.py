"""Everything that was measured is on disk, and only whole lines are read back."""

from pathlib import Path

import pytest

from harness.errors import BadInputError, MachineError
from harness.run.journal import Journal, Resumed, SnapshotFact, Started, TrialFact, make_way, read
from schemas.submission import Snapshot
from tests.harness.campaigns import campaign, run

FULL = Path("/dev/full")
FACT = SnapshotFact(snapshot=Snapshot(moment="before", load_1min=0.25))
MOMENT = "2026-11-21T09:00:00Z"


def test_facts_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.create(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)

    facts = read(path)

    assert isinstance(facts[0], Started)
    assert facts[1:] == [FACT]


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


def test_a_last_line_with_a_hole_from_a_power_cut_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.create(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)
        whole = path.read_bytes()
        journal.add(FACT)
    data = path.read_bytes()
    path.write_bytes(data[: len(whole) + 10] + b"\0" * 20 + data[len(whole) + 30 :])

    facts = read(path)

    assert [type(fact) for fact in facts] == [Started, SnapshotFact]
    assert path.read_bytes() == whole


@pytest.mark.parametrize("written", [b"", b'{"fact": {"type": "sta', b"\0" * 40 + b"\n"])
def test_a_journal_without_a_whole_first_line_is_begun_again(
    tmp_path: Path, written: bytes
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(written)

    with Journal.reopen(path, campaign(), measured_from=MOMENT):
        pass

    assert [type(fact) for fact in read(path)] == [Started]


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

    with pytest.raises(BadInputError, match="not a journal of this version"):
        read(path)


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_one_line_with_the_way_to_go_on() -> None:
    with (
        pytest.raises(MachineError, match=r"\(No space left on device\).*--resume"),
        Journal(FULL, []) as journal,
    ):
        journal.add(FACT)


def test_a_forgotten_resume_loses_no_trial(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(campaign(prompts=1, blocks=1), path)

    said: list[str] = []
    make_way(path, say=said.append)

    aside = tmp_path / "run.replaced.jsonl"
    assert "stopped after 3 trials" in said[0]  # one prompt with each of three arms
    assert said[0].endswith(str(aside))
    assert not path.exists()
    assert sum(isinstance(fact, TrialFact) for fact in read(aside)) == 3


def test_a_journal_without_trials_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.create(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)

    make_way(path, say=pytest.fail)


def test_a_journal_of_another_version_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"fact": {"type": "unheard-of"}}\n')

    make_way(path, say=pytest.fail)
