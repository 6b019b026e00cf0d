"""Does a fleet lose or double anything when its workers are killed? `python -m bench.fleet`.

Eight cells, each a real `run` of the harness with a fake engine that takes a moment for every
answer, over two workers of this machine. One of them gets kill -9 at random moments, and at last
the scheduler's own program, which is then started again. The exit code says whether everything
was kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from schemas.contract import findings
from tests.harness.ggufs import write_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.runners.base import Failure, Generation, Request

ROOT = Path(__file__).parents[1]
CELLS = 8
_ANSWER_S = 0.02
# The harness with an engine that takes its time, in every process of the fleet.
_PROGRAM = (sys.executable, "-m", "bench.fleet", "program")
_LIMIT_S = 400.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, kill, start again, and print what is there at the end."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=20261122)
    chosen = parser.parse_args(arguments)
    rng = random.Random(chosen.seed)  # noqa: S311 - moments, not secrets
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        code = _torment(folder, rng, chosen.kills)
        problems = [*_problems(folder)] + ([f"exit code {code}"] if code else [])
        _say(f"{time.monotonic() - began:.0f} s", *problems or ["nothing lost, nothing doubled"])
    return 1 if problems else 0


def _torment(folder: Path, rng: random.Random, kills: int) -> int:
    """Start the fleet, kill workers, kill the fleet once, start it again."""
    for number in range(CELLS):
        write_gguf(folder / f"model-{number}.gguf", name=f"Model {number} 7B")
    targets = [str(folder / f"model-{number}.gguf") for number in range(CELLS)]
    options = 'runner = "fake"\ntasks = "code,json"\nblocks = 4'
    text = f"targets = {json.dumps(targets)}\nattempts = 9\n[options]\n{options}\n"
    (folder / "matrix.toml").write_text(text, "utf-8")
    fleet = _start(folder)
    for kill in range(kills):
        _await_start(folder, more_than=kill)
        time.sleep(rng.uniform(2.0, 8.0))
        for worker in rng.sample(found := [*_workers(fleet)], k=min(1, len(found))):
            _say(f"kill -9 of a worker, number {kill + 1}")
            worker.kill()
    for each in [*_workers(fleet), fleet]:
        each.kill()
    fleet.wait()
    _say("kill -9 of the fleet and its workers; started again")
    return _start(folder).wait(_LIMIT_S)


def _await_start(folder: Path, *, more_than: int) -> None:
    """Wait until so many cells, and one more, have been given to a worker."""
    ledger, until = folder / "out" / "fleet.jsonl", time.monotonic() + _LIMIT_S
    while time.monotonic() < until:
        if ledger.exists() and ledger.read_text("utf-8").count('"started"') > more_than:
            return
        time.sleep(0.1)


def _start(folder: Path) -> psutil.Popen:
    words = ["matrix.toml", "--output", "out", "--tls", "keys", "--device", "0", "--device", "1"]
    environment = {**os.environ, "DRAFTMAP_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    command = [*_PROGRAM, "fleet", *words]
    return psutil.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL)


def _workers(fleet: psutil.Popen) -> Iterator[psutil.Process]:
    for child in fleet.children():
        with suppress(psutil.Error):  # one that was killed a moment ago
            if "worker" in child.cmdline():
                yield child


def _problems(folder: Path) -> Iterator[str]:
    """What is wrong with the files and the log, a line each."""
    files = sorted((folder / "out").glob("*.json"))
    documents = [json.loads(path.read_text("utf-8")) for path in files]
    yield from (f"{path.name} is invalid" for path in files if findings(path.read_bytes()))
    names = Counter(document["target"]["name"] for document in documents)
    if sorted(names.values()) != [1] * CELLS:
        yield f"files: {dict(names)}"
    for document in documents:
        trials = Counter((t["arm"], t["prompt"], t["block"]) for t in document["trials"])
        if set(trials.values()) != {1} or len(trials) != document["design"]["planned_trials"]:
            yield f"{document['target']['name']}: trials are missing or doubled"
    spans: dict[str, list[tuple[float, float]]] = {}
    for line in (folder / "spans").read_text("utf-8").splitlines():
        device, start, end = line.split()
        spans.setdefault(device, []).append((float(start), float(end)))
    for device, found in spans.items():
        found.sort()
        if any(a[1] > b[0] for a, b in pairwise(found)):
            yield f"two runs at a time on device {device}"
    resumed = sum(document["design"]["resumed"] for document in documents)
    _say(f"runs on devices: { {device: len(found) for device, found in spans.items()} }")
    _say(f"journals resumed: {resumed}")
    if len(spans) != 2 or not resumed:
        yield "the work was not spread, or no journal was resumed"


def program(words: Sequence[str]) -> None:
    """The command line of the harness, whose fake engine takes its time and writes when it ran."""
    from harness.cli.app import main as command_line  # noqa: PLC0415 - not for the bench itself
    from harness.runners import fake  # noqa: PLC0415 - see above

    answer, spans = fake.FakeSession.generate, Path("spans").absolute()
    began = time.monotonic()

    def slowly(self: fake.FakeSession, request: Request) -> Generation | Failure:
        time.sleep(_ANSWER_S)
        return answer(self, request)

    def close(_self: fake.FakeSession) -> None:
        with spans.open("a", encoding="utf-8") as file:
            file.write(f"{os.environ['DRAFTMAP_DEVICE']} {began} {time.monotonic()}\n")

    fake.FakeSession.generate = slowly  # type: ignore[method-assign]
    fake.FakeSession.close = close  # type: ignore[attr-defined]
    if words[0] == "fleet":
        from harness.fleet import job, worker  # noqa: PLC0415 - see above

        job.PROGRAM = [*_PROGRAM, "run"]
        worker.own_module = lambda _name: [*_PROGRAM]
    sys.argv = ["draftmap", *words]
    command_line()


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(program(sys.argv[2:]) if sys.argv[1:2] == ["program"] else main())
