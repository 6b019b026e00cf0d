"""Does a run that is killed with kill -9 lose or double a trial?

`make bench-durability` kills many more of them, and real ones.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from schemas.canonical import canonical_bytes
from schemas.codec import encode
from schemas.contract import read
from schemas.submission import Submission
from tests.bench import durability_run
from tests.bench.durability_kill import Subject, faults, torment, trials_on_disk
from tests.harness.campaigns import campaign, run
from tests.processes import eventually

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.long
KILLS = 6


def subject(folder: Path) -> Subject:
    return Subject(
        command=(sys.executable, "-m", "tests.bench.durability_run", str(folder)),
        journal=durability_run.work_file(folder),
        result=durability_run.result_file(folder),
        longest_s=0.2,
        most_trials=20,
        unending=("--unending",),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_a_run_that_is_killed_six_times_ends_with_every_trial_once(tmp_path: Path) -> None:
    survivor = torment(subject(tmp_path), KILLS, random.Random(20261121), ("parent",))  # noqa: S311 - moments, not secrets

    assert survivor.problems == ()
    assert survivor.trials == durability_run.TRIALS
    assert len(survivor.kills) == KILLS
    assert survivor.kills[-1].trials_on_disk > survivor.kills[0].trials_on_disk


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_a_terminated_run_writes_what_it_has_and_can_be_resumed(tmp_path: Path) -> None:
    command = [*subject(tmp_path).command, "--terminable", "--unending"]
    with subprocess.Popen(command) as process:
        assert eventually(lambda: bool(trials_on_disk(durability_run.work_file(tmp_path))))
        process.send_signal(signal.SIGTERM)

    submission = read(durability_run.result_file(tmp_path).read_bytes())
    assert process.returncode == 0
    assert isinstance(submission, Submission)
    assert submission.design.ended == "interrupted"
    assert 0 < len(submission.trials) < durability_run.TRIALS


def measured(tmp_path: Path) -> tuple[Submission, dict[int, bytes]]:
    """One prompt, three arms, one block: the result, and the trials in its journal."""
    journal = tmp_path / "run.jsonl"
    submission = run(campaign(prompts=1, blocks=1), journal)
    return submission, trials_on_disk(journal)


def test_a_result_with_the_trials_of_its_journal_has_no_fault(tmp_path: Path) -> None:
    submission, kept = measured(tmp_path)

    assert sorted(kept) == [0, 1, 2]
    assert faults(submission, kept, resumed=0) == []


def test_a_lost_a_changed_and_a_doubled_trial_are_found(tmp_path: Path) -> None:
    submission, kept = measured(tmp_path)
    first, second, third = submission.trials

    lost = replace(submission, trials=(first, second))
    doubled = replace(submission, trials=(*submission.trials, replace(third, order=3)))
    changed = replace(submission, trials=(first, second, replace(third, wall_ms=1.0)))

    key = (third.arm, third.prompt, third.block)
    assert faults(lost, kept, resumed=0) == [
        "trial 2 is lost in the result",
        "2 of 3 trials are there",
    ]
    assert faults(doubled, kept, resumed=0) == [
        f"{key} is there 2 times",
        "4 of 3 trials are there",
    ]
    assert faults(changed, kept, resumed=0) == ["trial 2 is another in the result"]
    assert kept[2] == canonical_bytes(encode(replace(third, compared_tokens=None)))
