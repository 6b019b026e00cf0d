"""A run killed with kill -9 neither loses nor duplicates a trial.

`make bench-durability` kills many more of them, and real ones.
"""

import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bench import durability_run
from bench.durability_kill import Subject, torment, trials_on_disk
from harness import files
from harness.models import hub
from harness.models.hub_client import Hub
from harness.run import journal
from schemas.contract import read
from schemas.submission import Submission
from tests.harness.campaigns import campaign, run
from tests.harness.fake_hub import FakeHub, serving
from tests.processes import eventually

pytestmark = pytest.mark.long
KILLS = 6


def subject(folder: Path) -> Subject:
    return Subject(
        command=(sys.executable, "-m", "bench.durability_run", str(folder)),
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
def test_a_terminated_run_writes_its_trials_and_can_be_resumed(tmp_path: Path) -> None:
    command = [*subject(tmp_path).command, "--terminable", "--unending"]
    with subprocess.Popen(command) as process:
        assert eventually(lambda: bool(trials_on_disk(durability_run.work_file(tmp_path))))
        process.send_signal(signal.SIGTERM)

    submission = read(durability_run.result_file(tmp_path).read_bytes())
    assert process.returncode == 0
    assert isinstance(submission, Submission)
    assert submission.design.ended == "interrupted"
    assert 0 < len(submission.trials) < durability_run.TRIALS


class Disk:
    """The state of the disk: the last synced content of each file and folder, by inode."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: dict[int, int] = {}
        self.names: dict[int, set[str]] = {}
        self._sync = os.fsync
        monkeypatch.setattr(os, "fsync", self.sync)

    def sync(self, descriptor: int) -> None:
        self._sync(descriptor)
        state = os.fstat(descriptor)
        if stat.S_ISDIR(state.st_mode):
            self.names[state.st_ino] = set(os.listdir(descriptor))
        else:
            self.sizes[state.st_ino] = state.st_size

    def holds(self, path: Path) -> bool:
        """Check whether a power cut now would leave the complete file under its name."""
        state = path.stat()
        named = path.name in self.names.get(path.parent.stat().st_ino, ())
        return named and self.sizes.get(state.st_ino) == state.st_size


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot sync a folder")
def test_every_fact_survives_a_power_cut_before_the_next_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, path = Disk(monkeypatch), tmp_path / "run.jsonl"
    safe: list[bool] = []

    run(campaign(prompts=1, blocks=2), path, observe=lambda _event: safe.append(disk.holds(path)))

    assert len(safe) > 6
    assert all(safe)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot sync a folder")
def test_a_file_takes_its_name_when_its_content_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, path = Disk(monkeypatch), tmp_path / "result.json"

    with files.written(path) as part:
        part.write_bytes(b"figures")
        assert not disk.sizes
        monkeypatch.setattr(Path, "replace", lambda *names: rename(disk, *names))

    assert disk.holds(path)


def rename(disk: Disk, source: Path, target: Path) -> None:
    assert disk.sizes[source.stat().st_ino] == len(b"figures")
    source.rename(target)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot sync a folder")
def test_a_journal_that_was_set_aside_survives_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    run(campaign(prompts=1, blocks=1), path)
    disk = Disk(monkeypatch)

    journal.make_way(path, say=lambda _: None)

    assert disk.names[tmp_path.stat().st_ino] == {"run.lock", "run.replaced.jsonl"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot sync a folder")
@pytest.mark.usefixtures("cache_dir")
def test_weights_from_the_hub_survive_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)

    with serving(FakeHub("Owner/Model-GGUF", {"Model-Q8_0.gguf": b"weights"})) as fake_hub:
        client = Hub(fake_hub.endpoint, tmp_path / "hub")
        file = hub.fetch("Owner/Model-GGUF:Q8_0", client=client, say=lambda _: None)

    assert disk.holds(file.path.resolve())
