"""`draftmap fleet`: measure a matrix of targets, methods and backends over many machines."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import platformdirs
import typer
from typer.core import TyperGroup

from harness import console, install
from harness.campaign.options import Options
from harness.command_help import Command
from harness.command_options import offers_fields, option_names
from harness.errors import BadInputError, MachineError
from harness.options import REQUIRED, option
from harness.report.words import seconds as duration
from harness.run.chosen_engine import EngineOptions
from harness.run.request import ResultOptions
from harness.run.result_file import require_writable
from schemas.vocabulary.say import count

# Addresses that other machines cannot reach.
_HERE = ("127.", "localhost", "[::1]")
_DEVICES = "`0` (with any backend), `cuda:0`, `vulkan:1`, `rocm:0` or `cpu`"


def _address(text: str, *, option: str) -> str:
    host, _, port = text.removeprefix("tls://").rpartition(":")
    if not (host and "/" not in host and re.fullmatch("[0-9]{1,5}", port) and int(port) < 2**16):
        raise BadInputError(
            f"--{option} {text}: give an address and a port, such as 192.0.2.7:8786"
        )
    return f"{host}:{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyOptions:
    tls: Path = option(
        "Folder of the fleet's key and certificate. `fleet run` creates them; copy the folder to "
        "the other machines. Default: draftmap/fleet in your user configuration directory.",
        metavar="FOLDER",
        default=Path(platformdirs.user_config_dir("draftmap")) / "fleet",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions(_KeyOptions):
    output: Path = option(
        "Folder for the results.", short="-o", metavar="FOLDER", default=Path("results")
    )
    listen: str = option(
        "Address to listen on.",
        metavar="HOST:PORT",
        parse=partial(_address, option="listen"),
        default="127.0.0.1:8786",
    )
    devices: tuple[str, ...] = option(
        f"A device of this machine to measure on: {_DEVICES}. Can be repeated. Default: every "
        "card, or the CPU if there is no card; no device if other machines can connect.",
        name="device",
        metavar="DEVICE",
        default=(),
    )
    dry_run: bool = option(
        "Print the cells and the expected time for each cell on this machine.", default=False
    )
    json: bool = option("Print the result as JSON.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions(_KeyOptions):
    scheduler: str = option(
        "The scheduler, such as tls://192.0.2.7:8786.",
        metavar="ADDRESS",
        parse=partial(_address, option="scheduler"),
        default=REQUIRED,
    )
    device: str | None = option(
        f"Device to measure on: {_DEVICES}. Default: the device in CUDA_VISIBLE_DEVICES, "
        "otherwise the first device.",
        metavar="DEVICE",
    )
    rig: str | None = option("A name for this machine.", metavar="NAME")
    backends: tuple[str, ...] = option(
        "Backend to offer. Default: chosen by the device's vendor.",
        name="backend",
        metavar="NAME",
        default=(),
    )


class _Group(TyperGroup):
    """A command group in which `fleet matrix.toml` means `fleet run matrix.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as typer calls it
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_Group, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def fleet() -> None:
    """A scheduler distributes the cells of a matrix to workers, one per device of each machine.

    `fleet matrix.toml --device 0 --device 1` uses two cards of this machine. For several machines,
    see docs/fleet.md in the repository.
    """


@app.command(cls=Command)
@console.reports_errors
@offers_fields
def run(
    path: Annotated[Path, typer.Argument(metavar="MATRIX", help="The matrix, a TOML file.")],
    options: FleetOptions,
) -> None:
    """Measure the cells of a matrix; start it again to continue where it stopped.

    Exit codes: 0 every cell is done, 3 some cells failed, 130 interrupted.
    """
    _require_distributed()
    from harness.fleet import connections, matrix, owned_device, scheduler, worker  # noqa: PLC0415 - slow

    kinds = (Options, EngineOptions, ResultOptions)
    known = {name.removeprefix("--") for kind in kinds for name in option_names(kind)}
    runs = matrix.read(path, known)
    missing = [run for run in runs if not (options.output / f"{run.id}.json").exists()]
    alone = options.listen.startswith(_HERE)
    devices = owned_device.owned_devices(options.devices, alone=alone)
    if alone:
        owned_device.require_able(devices, missing)
    if options.dry_run:
        _print_expected({run.id: worker.expected_s(run) for run in missing}, json=options.json)
        return
    require_writable(options.output)
    connections.make_key(options.tls)
    if not alone:
        console.say(f"Listening on {options.listen}; other machines need a copy of {options.tls}.")
    key = connections.security(options.tls)
    measuring = scheduler.measure(missing, devices, options.listen, key, options.output)
    failed = asyncio.run(measuring) if missing else {}
    if options.json:
        console.print_json({"cells": {run.id: failed.get(run.id, "done") for run in runs}})
    else:
        typer.echo(f"{len(runs) - len(failed)} of {count(len(runs), 'cell')} done.")
    if failed:
        raise typer.Exit(MachineError.exit_code)


def _print_expected(expected: Mapping[str, float | str | None], *, json: bool) -> None:
    """Print the expected duration of each cell; exit with an error code if a cell cannot run."""
    failed = {run_id: why for run_id, why in expected.items() if isinstance(why, str)}
    if json:
        takes = {run_id: None if run_id in failed else s for run_id, s in expected.items()}
        console.print_json({"expected_s": {**takes}, "failed": {**failed}})
    for run_id, found in () if json else expected.items():
        known = "unknown" if found is None else f"cannot run: {found}"
        typer.echo(f"{run_id}  {duration(found) if isinstance(found, float) else known}")
    if failed:
        raise typer.Exit(MachineError.exit_code)


@app.command(cls=Command)
@console.reports_errors
@offers_fields
def worker(options: WorkerOptions) -> None:
    """Measure cells on one device of this machine, one at a time, for a scheduler."""
    _require_distributed()
    from harness.fleet import connections, owned_device, worker  # noqa: PLC0415 - slow to import

    key = connections.security(options.tls)
    own = owned_device.owned_device(options.device, options.rig, options.backends)
    console.say(f"{own.name} offers {', '.join(own.resources)}.")
    asyncio.run(worker.serve(f"tls://{options.scheduler}", own, key))


def _require_distributed() -> None:
    if find_spec("distributed") is None:
        raise MachineError(f"a fleet needs dask.distributed: {install('fleet')}")
