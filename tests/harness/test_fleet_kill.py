"""Is every cell of a matrix measured once when a worker is killed in the middle?"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("distributed", reason="the extra `fleet` is not installed")

from harness.fleet import conduct, network
from harness.fleet.ledger import Ledger
from harness.fleet.matrix import Matrix, parse
from harness.fleet.worker import LocalWorkers
from schemas.contract import findings
from tests.harness.fleet_programs import LONG
from tests.samples import sample, sample_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = Path(__file__).with_name("fleet_programs.py")


class Trial:
    """A fleet whose cells are small programs of the tests."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        (folder / "sample.json").write_bytes(sample_bytes(replace(sample(), notes="Fleet Cell")))
        (folder / "out").mkdir()
        monkeypatch.setenv("FLEET_TEST", str(folder))
        monkeypatch.setenv("FLEET_SAMPLE", str(folder / "sample.json"))
        root = str(Path(__file__).parents[2])
        monkeypatch.setenv("PYTHONPATH", root)
        self.workers = LocalWorkers(
            devices=("0", "1"),
            arguments=("--no-tls", "--rig", "desk", "--backend", "cuda"),
            log=folder / "workers.log",
            program=(sys.executable, str(PROGRAMS), "worker"),
        )

    def measure(self, matrix: Matrix, watch: Callable[[conduct.Fleet], None]) -> conduct.Fleet:
        """Measure the matrix; `watch` is called all the time."""
        at = replace(network.address("127.0.0.1", "--listen", encrypted=False), port=0)
        whole = conduct.Fleet(matrix=matrix, ledger=Ledger(self.folder / "out"), observe=watch)
        work = whole.measure(at, self.folder, self.workers)
        with ThreadPoolExecutor(1) as thread:  # an open browser has an event loop in this one
            thread.submit(asyncio.run, work).result()
        return whole

    def log(self) -> list[list[str]]:
        """What the cells wrote: when, begins or ends, cell, device, steps that were done."""
        return [line.split() for line in (self.folder / "log").read_text("utf-8").splitlines()]

    def files(self) -> list[Path]:
        return sorted((self.folder / "out").glob("*.json"))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_eight_cells_survive_the_kill_of_a_worker(
    tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_dir.is_dir()
    trial = Trial(tmp_path, monkeypatch)
    names = [*"abc", LONG, *"defg"]
    matrix = parse({"targets": [*names, "bad"], "attempts": 4}, ())
    killed: list[int] = []

    def kill_one(fleet: conduct.Fleet) -> None:
        """Once, in the middle of the long cell."""
        states = {state.cell.target: state for state in fleet.states.values()}
        place = states[LONG].place
        if killed or states[LONG].word != "runs" or place is None:
            return
        journal = tmp_path / f"{LONG}-{place.device}.journal"
        if journal.exists() and len(journal.read_text("utf-8").splitlines()) > 2:
            killed.append(trial.workers.pids()[place.device])
            os.kill(killed[0], signal.SIGKILL)

    whole = trial.measure(matrix, kill_one)

    assert killed
    assert [(state.cell.target, state.line) for state in whole.failed] == [
        ("bad", "bad is no model")
    ]
    files = trial.files()
    assert len(files) == 8
    assert [findings(path.read_bytes()) for path in files] == [()] * 8
    notes = sorted(json.loads(path.read_text("utf-8"))["notes"] for path in files)
    assert notes == sorted(f"Fleet {name}" for name in names)
    assert {line[3] for line in trial.log()} == {"0", "1"}
    for device_name in "01":  # one at a time: what began has ended before the next begins
        words = [line[1] for line in trial.log() if line[3] == device_name]
        assert words == ["begins", "ends"] * (len(words) // 2)
    begun = [line for line in trial.log() if line[1:3] == ["begins", LONG]]
    assert len({line[3] for line in begun}) == 1  # it waited for its device
    assert [int(line[4]) > 2 for line in begun] == [False, True]  # and went on with its journal

    again = conduct.Fleet(matrix=matrix, ledger=Ledger(tmp_path / "out"))

    assert [each.target for each in again.pending] == ["bad"]
