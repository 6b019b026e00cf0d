"""Every measurement is on disk, and only complete lines are read back."""

import random
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import BadInputError, MachineError
from harness.run.journal import (
    Fact,
    Journal,
    Resumed,
    SnapshotFact,
    Started,
    TrialFact,
    make_way,
    read,
)
from schemas.codec import encode
from schemas.submission import Snapshot
from tests.harness.campaigns import campaign, run

FULL = Path("/dev/full")
FACT = SnapshotFact(snapshot=Snapshot(moment="before", load_1min=0.25))
MOMENT = "2026-11-21T09:00:00Z"


def test_facts_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.open(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)

    facts = read(path)

    assert isinstance(facts[0], Started)
    assert facts[1:] == [FACT]


@pytest.mark.parametrize("written", [1, 5, 40])
def test_a_torn_last_line_is_left_out_and_the_rest_kept(tmp_path: Path, written: int) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.open(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)
        whole = path.stat().st_size
        journal.add(FACT)
    path.write_bytes(path.read_bytes()[: whole + written])

    with Journal.open(path, campaign(), measured_from=MOMENT, resume=True) as journal:
        journal.add(FACT)

    assert [type(fact) for fact in read(path)] == [Started, SnapshotFact, Resumed, SnapshotFact]


def test_a_last_line_with_a_hole_from_a_power_cut_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.open(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)
        whole = path.read_bytes()
        journal.add(FACT)
    lost = len(path.read_bytes()) - len(whole)
    path.write_bytes(whole + b"\n1a2b3c4d" + b"\0" * (lost - 10) + b"\n")

    with Journal.open(path, campaign(), measured_from=MOMENT, resume=True) as journal:
        journal.add(FACT)

    assert [type(fact) for fact in read(path)] == [Started, SnapshotFact, Resumed, SnapshotFact]


@pytest.mark.parametrize("written", [b"", b'\n1a2b3c4d {"fact": {"ty', b"\0" * 40 + b"\n"])
def test_a_journal_without_a_whole_first_line_is_begun_again(
    tmp_path: Path, written: bytes
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(written)

    with Journal.open(path, campaign(), measured_from=MOMENT, resume=True):
        pass

    assert [type(fact) for fact in read(path)] == [Started]


def test_a_journal_of_another_campaign_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Journal.open(path, campaign(seed=1), measured_from=MOMENT).__exit__(None, None, None)

    with pytest.raises(BadInputError, match="other options or models"):
        Journal.open(path, campaign(seed=2), measured_from=MOMENT, resume=True)


def test_a_missing_journal_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="nothing to resume"):
        read(tmp_path / "none.jsonl")


def test_a_file_that_is_not_a_journal_is_reported(tmp_path: Path) -> None:
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
    with Journal.open(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)

    make_way(path, say=pytest.fail)


def test_a_journal_of_another_version_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"fact": {"type": "unheard-of"}}\n')

    make_way(path, say=pytest.fail)


def without_order(facts: list[Fact]) -> Counter[str]:
    """Count the facts as texts, with trials stripped of their place in the order."""
    texts = [encode(fact) for fact in facts]
    return Counter(str({**each, "trial": {**each.get("trial", {}), "order": 0}}) for each in texts)


def test_each_of_200_flipped_bits_loses_at_most_its_own_fact(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    planned = campaign(prompts=2, blocks=2)
    run(planned, path)
    whole, facts = path.read_bytes(), without_order(read(path))
    rng = random.Random(56)  # noqa: S311 - places of damage, not secrets

    lost = Counter[int]()
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        found = read(path)
        trials = [fact.trial.order for fact in found if isinstance(fact, TrialFact)]
        missing = facts - without_order(found)
        assert not without_order(found) - facts
        assert all("'type': 'trial'" in each for each in missing)
        assert trials == list(range(12 - missing.total()))
        lost[missing.total()] += 1

    assert set(lost) == {0, 1}


def test_a_trial_of_a_damaged_line_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    planned = campaign(prompts=2, blocks=2)
    run(planned, path)
    path.write_bytes(path.read_bytes().replace(b'"code-1"', b'"code-7"', 1))
    damaged = path.read_bytes().replace(b'"decode_ms":', b'"decode_mr":', 3)
    path.write_bytes(damaged)

    again = run(planned, path, resume=True)

    places = Counter((trial.arm, trial.prompt, trial.block) for trial in again.trials)
    assert set(places.values()) == {1}
    assert len(places) == 12  # three arms, two prompts, two blocks
    assert sorted(trial.order for trial in again.trials) == list(range(12))


def test_a_second_run_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal.open(path, campaign(), measured_from=MOMENT) as journal:
        journal.add(FACT)
        before = path.read_bytes()

        with pytest.raises(MachineError, match=r"^another run is writing .*run\.jsonl; wait until"):
            Journal.open(path, campaign(), measured_from=MOMENT, resume=True)
        with pytest.raises(MachineError, match="another run is writing"):
            Journal.open(path, campaign(), measured_from=MOMENT)

        assert path.read_bytes() == before
    Journal.open(path, campaign(), measured_from=MOMENT, resume=True).__exit__(None, None, None)


def test_the_journal_of_a_run_is_not_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(campaign(prompts=1, blocks=1), path)

    with (
        Journal.open(path, campaign(prompts=1, blocks=1), measured_from=MOMENT, resume=True),
        pytest.raises(MachineError, match="another run is writing"),
    ):
        make_way(path, say=pytest.fail)
