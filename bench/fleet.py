"""Does a fleet lose or double a cell when it is killed? `python -m bench.fleet`.

Eight cells, each a real `run` with the fake engine, over two workers of this machine. A worker gets
kill -9 when its run has just started, in the middle of the trials and near their end; then the
whole fleet gets it and is started again. The exit code says whether everything is there once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from schemas.contract import findings
from tests.harness.ggufs import write_gguf

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
CELLS = 8
# What a run prints when a worker is killed: before its first trial, within them, near the end.
MOMENTS = ("This takes about", " 32 of 64 trials", " 58 of 64 trials")
_LIMIT_S = 400.0


def main() -> int:
    """Measure, kill, start again, and print what is there at the end."""
    with tempfile.TemporaryDirectory() as name:
        folder, started_s = Path(name), time.monotonic()
        targets = [str(folder / f"model-{number}.gguf") for number in range(CELLS)]
        for number, target in enumerate(targets):
            write_gguf(Path(target), name=f"Model {number} 7B")
        options = 'options = { runner = "fake", tasks = "code,json", blocks = 4 }'
        (folder / "matrix.toml").write_text(f"targets = {json.dumps(targets)}\n{options}\n")
        killed = _measure_and_kill(folder)
        code = _start(folder, subprocess.DEVNULL).wait(_LIMIT_S)
        problems = [*_problems(folder)] + ([f"exit code {code}"] if code else [])
        problems += [] if killed == len(MOMENTS) else [f"only {killed} workers were killed"]
        for line in problems or ["nothing lost, nothing doubled"]:
            sys.stdout.write(f"{line}\n")
        sys.stdout.write(f"{time.monotonic() - started_s:.0f} s\n")
    return 1 if problems else 0


def _measure_and_kill(folder: Path) -> int:
    """Kill a worker at each moment, then the fleet; how many workers were killed."""
    fleet = _start(folder, subprocess.PIPE)
    moments = [*MOMENTS]
    for line in fleet.stderr:
        if moments and moments[0] in line:
            target = line.split(".gguf")[0]
            with suppress(psutil.Error):  # a run that has ended meanwhile
                for worker in _workers(fleet, f"{target}.gguf"):
                    worker.kill()
                    sys.stdout.write(f"kill -9 of a worker at: {line}")
                    moments.pop(0)
        elif not moments and " trials" in line:
            break
    fleet.kill()
    sys.stdout.write("kill -9 of the fleet; started again\n")
    threading.Thread(target=fleet.communicate, daemon=True).start()
    return len(MOMENTS) - len(moments)


def _start(folder: Path, stderr: int) -> psutil.Popen:
    command = [sys.executable, "-m", "harness", "fleet", "matrix.toml", "--tls", "keys"]
    return psutil.Popen(
        [*command, "--output", "out", "--device", "0", "--device", "cpu"],
        cwd=folder,
        env={**os.environ, "DRAFTMAP_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT)},
        stderr=stderr,
        text=True,
    )


def _workers(fleet: psutil.Popen, target: str) -> Iterator[psutil.Process]:
    """The worker that measures a target now: the parent of its run."""
    for process in fleet.children(recursive=True):
        if "run" in (words := process.cmdline()) and any(word.endswith(target) for word in words):
            yield process.parent()
            return


def _problems(folder: Path) -> Iterator[str]:
    """What is wrong with the files, a line each."""
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
    resumed = sum(document["design"]["resumed"] for document in documents)
    sys.stdout.write(f"journals resumed: {resumed}\n")


if __name__ == "__main__":
    sys.exit(main())
