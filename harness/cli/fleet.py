"""`draftmap fleet`: measure a matrix of targets, methods and backends over many machines."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from filelock import FileLock, Timeout
from rich.live import Live
from rich.table import Table
from typer.core import TyperGroup

from harness import PROGRAM
from harness.campaign.options import Options
from harness.cli import console
from harness.cli.engines import EngineOptions
from harness.cli.options import offers_fields, option_names
from harness.cli.request import Contribution
from harness.errors import MachineError, UsageError
from harness.fleet import matrix as matrices
from harness.fleet.job import expected_s
from harness.fleet.ledger import Ledger
from harness.fleet.matrix import Matrix
from harness.fleet.options import Connections, FleetOptions, WorkerOptions
from harness.fleet.placement import Device, Planned, planned
from harness.fleet.workflow import workflow as workflow_of
from harness.report.words import seconds as duration
from harness.runners.options import ConnectionOptions
from schemas.vocabulary.say import count

_WORDS = {"waits": "", "runs": "cyan", "done": "green", "failed": "red"}

MatrixFile = Annotated[Path, typer.Argument(metavar="MATRIX", help="The matrix, a TOML file.")]


class _Group(TyperGroup):
    """`fleet matrix.toml` is `fleet run matrix.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as typer calls it
        """The arguments, with the name of the command that is meant."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group, no_args_is_help=True, add_completion=False, rich_markup_mode="markdown"
)


@app.callback()
def fleet() -> None:
    """A scheduler gives the cells of a matrix to workers, one for each device of each machine.

    - `python -m harness fleet matrix.toml --device 0 --device 1` on one machine with two cards

    - `python -m harness fleet matrix.toml --listen 0.0.0.0:8786` on the first of several, and
    `python -m harness fleet worker --scheduler tls://FIRST:8786` on each of them

    The page "Fleet" of the site explains the matrix.
    """


@app.command()
@console.reports_errors
@offers_fields
def run(path: MatrixFile, options: FleetOptions, connections: Connections) -> None:
    """Measure the cells of a matrix; start it again to continue where it stopped.

    Exit codes: 0 every cell is done, 3 some failed, 130 interrupted.
    """
    found = _read(path)
    if options.dry_run:
        _print_plan(found, options)
        return
    _require_distributed()
    from harness.fleet import conduct, network  # noqa: PLC0415 - an optional package
    from harness.fleet.worker import LocalWorkers  # noqa: PLC0415 - an optional package

    address = network.address(options.listen, "--listen", encrypted=not connections.no_tls)
    keys = connections.keys()
    if address.encrypted and network.make_keys(keys):
        console.say(f"The key of the fleet is in {keys}; copy that folder to the other machines.")
    if not options.devices:
        start = f"{PROGRAM} fleet worker --scheduler {address.there()} --device 0"
        console.say(f"Waiting for workers; start one for each device of each machine: {start}")
    with _only_one(options.output), _Board() as board:
        whole = conduct.Fleet(
            matrix=found,
            ledger=Ledger(options.output),
            say=console.say,
            observe=board,
        )
        workers = LocalWorkers(
            devices=options.devices,
            arguments=connections.arguments(),
            log=options.output / "workers.log",
        )
        _run(whole.measure(address, keys, workers))
    _report(whole, as_json=options.json)


@app.command()
@console.reports_errors
@offers_fields
def plan(path: MatrixFile, options: FleetOptions) -> None:
    """Print who measures what and how long it takes, by the rigs that the matrix names."""
    _print_plan(_read(path), options)


@app.command()
@console.reports_errors
@offers_fields
def worker(options: WorkerOptions, connections: Connections) -> None:
    """Measure cells on one device of this machine, one at a time, for a scheduler."""
    _require_distributed()
    from harness.fleet import network  # noqa: PLC0415 - an optional package
    from harness.fleet import worker as workers  # noqa: PLC0415 - an optional package

    plain = connections.no_tls
    address = network.address(options.scheduler, "--scheduler", encrypted=not plain)
    keys = connections.keys()
    network.security(address, keys)
    rig = options.rig or workers.default_rig()
    own = workers.own_device(rig, options.device, options.backends)
    offered = " and ".join(own.backends or ())
    console.say(f"Device {own.name} of {own.rig}: {own.about}, offers {offered}.")
    patience_s = options.patience_s
    _run(workers.serve(address, keys, own, patience_s=patience_s, say=console.say))


@app.command()
@console.reports_errors
def workflow(path: MatrixFile) -> None:
    """Print a GitHub Actions workflow with a job for each cell, for self-hosted runners."""
    typer.echo(workflow_of(_read(path)), nl=False)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Do the work; SIGTERM ends it as Ctrl-C does, and lets it end what it started."""

    async def interruptible() -> None:
        task = asyncio.current_task()
        if os.name == "posix" and task is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        await work

    try:
        asyncio.run(interruptible())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _read(path: Path) -> Matrix:
    kinds = (Options, EngineOptions, ConnectionOptions, Contribution)
    known = {flag.removeprefix("--") for kind in kinds for flag in option_names(kind)}
    return matrices.read(path, known)


def _require_distributed() -> None:
    if find_spec("distributed") is None:
        message = "a fleet needs dask.distributed: pip install 'draftmap[fleet]'"
        raise MachineError(message)


def _only_one(output: Path) -> FileLock:
    """The lock of an output folder. Raises `HarnessError` when another fleet writes to it."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        lock = FileLock(output / ".fleet.lock")
        lock.acquire(timeout=0)
    except Timeout:
        message = f"another fleet writes to {output}; choose another --output"
        raise UsageError(message) from None
    except OSError as error:
        message = f"{output} cannot be written ({error.strerror}); choose another --output"
        raise MachineError(message) from error
    return lock


class _Board:
    """The table of all cells on standard error, drawn twice a second; only on a terminal."""

    def __init__(self) -> None:
        screen = console.progress_console()
        self._live = Live(console=screen, refresh_per_second=2) if screen.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, whole: Any) -> None:  # noqa: ANN401 - its module needs an optional package
        """Draw how the cells stand."""
        if self._live is None:
            return
        table = Table("cell", "where", "state", "progress", box=None, pad_edge=False)
        for state in whole.states.values():
            took = "" if state.seconds is None else duration(state.seconds)
            style = _WORDS[state.word]
            where = "" if state.place is None else str(state.place)
            table.add_row(state.cell.id, where, f"[{style}]{state.word}[/]", state.line or took)
        left = whole.left_s()
        table.caption = "" if left is None else f"about {duration(left)} left"
        self._live.update(table)


def _report(whole: Any, *, as_json: bool) -> None:  # noqa: ANN401 - its module needs an optional package
    if as_json:
        console.print_json({"cells": [_outcome(state) for state in whole.states.values()]})
    else:
        done = [state for state in whole.states.values() if state.word == "done"]
        typer.echo(f"{len(done)} of {count(len(whole.states), 'cell')} done.")
        for state in whole.failed:
            typer.echo(f"failed: {state.cell.id}: {state.line}")
    if whole.failed:
        raise typer.Exit(MachineError.exit_code)


def _outcome(state: Any) -> dict[str, Any]:  # noqa: ANN401 - its module needs an optional package
    return {
        "cell": state.cell.id,
        "state": state.word,
        "where": None if state.place is None else str(state.place),
        "files": [*state.files],
        "seconds": state.seconds,
        "why": state.line if state.word == "failed" else None,
    }


def _print_plan(found: Matrix, options: FleetOptions) -> None:
    here = tuple(Device(rig="here", name=name) for name in options.devices)
    devices = here or found.devices
    console.say(f"Estimating {count(len(found.cells), 'cell')} on this machine.")
    takes = {cell.id: expected_s(cell.arguments) for cell in found.cells}
    rows = planned(found.cells, devices, takes)
    if options.json:
        console.print_json({"cells": [_row(row, takes[row.cell.id]) for row in rows]})
        return
    for row in rows:
        where = str(row.device.place) if row.device else "no device that the matrix names can"
        took = takes[row.cell.id]
        long = "unknown" if took is None else f"about {duration(took)}"
        typer.echo(f"{row.cell.id}  {where}  {long}")
    ends = [row.ends_s for row in rows]
    if devices and all(each is not None for each in ends):
        longest = max(each for each in ends if each is not None)
        typer.echo(f"{count(len(rows), 'cell')}, about {duration(longest)} in all.")


def _row(row: Planned, takes_s: float | None) -> dict[str, Any]:
    return {
        "cell": row.cell.id,
        "arguments": [*row.cell.arguments],
        "needs": row.cell.resources(),
        "where": None if row.device is None else str(row.device.place),
        "takes_s": takes_s,
        "ends_s": row.ends_s,
    }
