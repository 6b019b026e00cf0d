"""`draftmap doctor`: run all checks in order; a failed check does not stop the others."""

import platform
import shutil
import time
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from typing import Annotated

import psutil
import typer

from answers.presets import DEFAULT_DRAFT
from harness import console, files
from harness.campaign.from_options import campaign_from
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS
from harness.campaign.options import Options
from harness.doctor import engine_checks, machine_checks
from harness.doctor.check import Check
from harness.errors import NOT_MEASURED, HarnessError
from harness.machine.detect import machine as describe_machine
from harness.machine.engines import (
    OTHER_SERVER,
    SERVER_PROGRAM,
    package_version,
    server_program,
)
from harness.machine.environment import Watch
from harness.models.overview import fitting, overview
from harness.models.resolve import on_disk
from harness.runners import CONNECT
from harness.runners.devices import devices
from harness.runners.llama_server import binary
from harness.runners.options import ConnectionOptions
from schemas.codec import encode
from schemas.method import NO_SPECULATION
from schemas.submission import Device
from schemas.vocabulary import DEFAULT_RUNNER, RUNNERS

_MARKS = {"ok": ("ok", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}
_MIB = 1024 * 1024


@console.reports_errors
def doctor(
    *,
    model: Annotated[
        str | None,
        typer.Option(
            help="Test the engine with this model. Default: the built-in model, which is "
            "downloaded once (98 MB).",
            metavar="MODEL",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    checks = []
    for check in examine(model=model, say=console.say):
        checks.append(check)
        if not json:
            _print(check)
    if json:
        console.print_json({"checks": encode(checks)})
    if any(check.status == "fail" for check in checks):
        raise typer.Exit(NOT_MEASURED)


def _print(check: Check) -> None:
    mark, style = _MARKS[check.status]
    screen = console.result_console()
    screen.print(f"[{style}]{mark:<5}[/] {check.name:<10} ", end="")
    screen.print(check.found, markup=False, soft_wrap=True)
    if check.remedy:
        # Commands are not wrapped, so that they can be copied whole.
        screen.print(f"      {check.remedy}", markup=False, soft_wrap=True)


def examine(*, model: str | None, say: Callable[[str], None]) -> Iterator[Check]:
    """Yield each check as soon as its result is known.

    Raises `BadInputError` for an unknown model.
    """
    if model is not None:
        on_disk(model)
    machine = describe_machine()
    state = Watch().snapshot("before")
    ram = psutil.virtual_memory()
    yield Check("Python", "ok", platform.python_version())
    yield engine_checks.compiler()
    bound, server = package_version() is not None, server_program()
    yield engine_checks.binding(package_version(), server)
    yield machine_checks.processor(machine)
    yield machine_checks.gpu(machine)
    if bound:
        yield engine_checks.backend(_devices(), machine.gpus)
    elif server is not None:
        yield _checked(
            "Backend",
            lambda: engine_checks.server_backend(binary.find(server).devices(), machine.gpus),
            f"Replace it: {OTHER_SERVER}",
        )
    yield machine_checks.memory(ram.total // _MIB, ram.available // _MIB)
    yield Check("Models", "ok", fitting(overview(DEFAULT_CONTEXT_TOKENS)))
    yield _checked("Disk", _disk, "Models and unfinished runs are stored in this directory.")
    yield machine_checks.power(on_battery=machine.on_battery)
    yield machine_checks.load(state, machine.cpu.logical_cores or 1)
    yield machine_checks.clock(time.perf_counter)
    if bound or server is not None:
        yield _checked(
            "Decode",
            lambda: _decode(DEFAULT_RUNNER if bound else SERVER_PROGRAM, model, say),
            "Name a model that is on this disk with --model.",
        )


def _decode(runner: str, model: str | None, say: Callable[[str], None]) -> Check:
    options = Options(target=model or DEFAULT_DRAFT, methods=(NO_SPECULATION,))
    campaign = campaign_from(options, say=say, runner=RUNNERS[runner])
    replacement = OTHER_SERVER if runner == SERVER_PROGRAM else engine_checks.PORTABLE_REINSTALL
    return engine_checks.decode(CONNECT[runner](ConnectionOptions()).open, campaign, replacement)


def _devices() -> tuple[Device, ...] | None:
    try:
        # This call loads the engine: the doctor must run even if the engine does not work.
        return devices()
    except (ImportError, OSError, RuntimeError):
        return None


def _disk() -> Check:
    with files.usable(), TemporaryFile(dir=files.directory()):
        return machine_checks.disk(shutil.disk_usage(files.directory()).free)


def _checked(name: str, check: Callable[[], Check], remedy: str) -> Check:
    """Return the result of a check; an error becomes a failed check."""
    try:
        return check()
    except HarnessError as error:
        return Check(name, "fail", str(error), remedy)
