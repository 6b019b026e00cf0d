"""A dask.distributed worker, which owns one device and measures one run of a matrix at a time."""

import logging
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import orjson
from distributed import Nanny, get_worker
from distributed.security import Security

from harness import files
from harness.errors import BAD_INPUT, INTERRUPTED, BadInputError, MachineError
from harness.fleet.matrix import MatrixRun
from harness.fleet.owned_device import OwnedDevice
from harness.machine.command import own_module
from harness.runners.http.guard import NEW_GROUP, Guard

PROGRESS = "draftmap-progress"
CONFIG = {
    # dask counts a worker's death against every run assigned to that worker. A failed run raises an
    # error instead; a run may fail `attempts` times.
    "distributed.scheduler.allowed-failures": 100,
    # Runs take so long that moving them to a new worker is worthwhile.
    "distributed.scheduler.unknown-task-duration": "10 minutes",
    "distributed.nanny.pre-spawn-environ": {},  # dask would limit the engine's threads
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
_RUN = [*own_module("harness"), "run"]


async def serve(scheduler: str, device: OwnedDevice, security: Security) -> None:
    """Serve one scheduler after another. Raises `MachineError` if none answers for ten minutes."""
    dask.config.set({**CONFIG, "distributed.comm.timeouts.connect": "10 minutes"})
    try:
        while True:
            async with nanny(scheduler, device.name, device, security) as own:
                await own.finished()
    except (OSError, TimeoutError) as error:
        raise MachineError(
            f"no scheduler answers at {scheduler}; start the scheduler, or check --scheduler "
            "and --tls"
        ) from error


def nanny(scheduler: str, name: str, device: OwnedDevice, security: Security) -> Nanny:
    return Nanny(
        scheduler,
        name=name,
        nthreads=1,
        resources=dict(device.resources),
        env=dict(device.environment),
        memory_limit=0,
        security=security,
        silence_logs=logging.CRITICAL,
        dashboard_address="127.0.0.1:0",
    )


def measure(run: MatrixRun) -> str | BadInputError:
    """Measure a run and return its result file. The scheduler calls this function on a worker.

    An error in the input is returned, since another attempt would fail too. Raises `MachineError`
    for any other error.
    """
    text, code, last_line = None, 0, ""
    if any(files.directory().glob("work/*.jsonl")):  # an interrupted run, perhaps of this cell
        text, code, last_line = _result_of(run, "--resume")
    if text is None:
        text, code, last_line = _result_of(run)
    if text is None and code == BAD_INPUT:
        return BadInputError(last_line)
    if text is None:
        raise MachineError(last_line)
    backend = f"backend-{orjson.loads(text)['engine']['backend']}"
    if asked := {name for name in run.needs if name.startswith("backend-")} - {backend}:
        raise MachineError(f"{min(asked)} was requested, but {backend} was measured")
    return text


def _result_of(run: MatrixRun, *more: str) -> tuple[str | None, int, str]:
    """Return a run's result file, its exit code, and the last line that the run printed."""
    worker, last_line = get_worker(), "the run printed no reason"
    with TemporaryDirectory(prefix="draftmap-cell-") as folder:
        result = Path(folder) / "result.json"
        child = subprocess.Popen(  # noqa: S603 - this program, with the words of the matrix
            [*_RUN, *run.arguments, *more, "--output", str(result)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONUTF8": "1"},
            start_new_session=True,
            creationflags=NEW_GROUP,
        )
        guard = Guard(child.pid, folder=folder)  # ends the run if the worker is killed
        for line in child.stderr or ():
            last_line = line.strip().removeprefix("Error: ") or last_line
            worker.log_event(PROGRESS, f"{run.id} on {worker.name}: {line.strip()}")
        code = child.wait()
        guard.dismiss()
        complete = result.exists() and code != INTERRUPTED
        return result.read_text("utf-8") if complete else None, code, last_line


def expected_s(run: MatrixRun) -> float | str | None:
    """Return a run's duration on this machine, or why the run is impossible; `None` if unknown."""
    command = [*_RUN, *run.arguments, "--dry-run", "--json"]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - see above
    why = done.stderr.decode("utf-8", "replace").rpartition("Error: ")[2].strip()
    return orjson.loads(done.stdout)["expected_s"] if done.returncode == 0 else why
