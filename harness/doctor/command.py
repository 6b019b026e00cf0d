"""`draftmap doctor`: run all checks in order; a failed check does not stop the others."""

import platform
import shutil
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from typing import Annotated

import typer

from harness import console, files
from harness.campaign.from_options import campaign_from
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.command_options import Says, offers_fields
from harness.doctor import machine_checks
from harness.doctor.check import Check
from harness.errors import NOT_MEASURED, HarnessError, MachineError
from harness.machine.detect import machine as describe_machine
from harness.machine.engines import OTHER_SERVER, SERVER_PROGRAM
from harness.machine.environment import Watch
from harness.models.resolve import on_disk
from harness.run import next_step
from harness.run.chosen_engine import ChosenEngine, EngineOptions
from harness.run.preflight import REINSTALL
from harness.run.request import RunRequest
from harness.run.time_limit import in_turns
from harness.runners.base import Failure, Runner
from planner.presets import DEFAULT_DRAFT
from schemas.codec import encode
from schemas.method import NO_SPECULATION

_MARKS = {"ok": ("ok", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}
_PORTABLE = f'CMAKE_ARGS="-DGGML_NATIVE=OFF" {REINSTALL}'
_TARGET = (
    "The model of the run to check. Default: the built-in model, which is downloaded once (98 MB)."
)


@console.reports_errors
@offers_fields
def doctor(
    options: Annotated[Options, Says({"target": _TARGET})],
    engine: EngineOptions,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    checks = []
    for check in examine(options, engine, say=console.say):
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


def examine(
    options: Options, engine: EngineOptions, *, say: Callable[[str], None]
) -> Iterator[Check]:
    """Yield each check as soon as its result is known.

    Raises `BadInputError` for an unknown model.
    """
    if options.target is not None:
        on_disk(options.target)
    machine = describe_machine()
    state = Watch().snapshot("before")
    yield Check("Python", "ok", platform.python_version())
    yield machine_checks.processor(machine)
    yield machine_checks.gpu(machine)
    yield _checked("Disk", _disk, "Models and unfinished runs are stored in this directory.")
    yield machine_checks.power(on_battery=machine.on_battery, mode=machine.power_mode)
    yield machine_checks.load(state, machine.cpu.logical_cores or 1)
    yield from _of_run(options, engine, say)


def _of_run(options: Options, engine: EngineOptions, say: Callable[[str], None]) -> Iterator[Check]:
    """Yield the checks of a run with these options: what a dry run prints, and a few tokens."""
    told: list[str] = []
    try:
        request = RunRequest(options=options, engines=(engine.engine(options),))
        request.check()
        first = request.engines[0]
        campaigns = [*request.campaigns(fetch=False, say=told.append).values()]
        yield from (Check("Run", "warn", line) for line in told)
        if (seen := first.adapter().seen(campaigns[0])) is not None:
            names = [device.description or device.name for device in seen.devices or ()]
            where = ", ".join((f"{first.runner} {seen.version or ''}", seen.backend, *names))
            yield Check("Engine", "ok", where)
        if (estimate := in_turns(campaigns)) is not None:
            look = next_step.first_look(request, estimate)
            yield Check("Time", "ok", f"a run takes about {estimate.span}", look)
        if first.kind.reads_gguf:
            yield _checked("Decode", lambda: _decode(first, options, say), "Name another --target.")
    except HarnessError as error:
        yield Check("Run", "fail", str(error))


def _decode(engine: ChosenEngine, options: Options, say: Callable[[str], None]) -> Check:
    plain = Options(
        target=options.target or DEFAULT_DRAFT,
        methods=(NO_SPECULATION,),
        gpu_layers=options.gpu_layers,
    )
    campaign = campaign_from(plain, say=say, runner=engine.kind)
    replacement = OTHER_SERVER if engine.runner == SERVER_PROGRAM else _PORTABLE
    return decode(engine.adapter().open, campaign, replacement)


def decode(runner: Runner, campaign: Campaign, replacement: str) -> Check:
    """Let the engine write a few tokens: a build for a different CPU crashes only when it decodes.

    `replacement` is the advice for installing a different build.
    """
    remedy = (
        "Name another model with --target. If no model works, this build does not suit this "
        f"machine: {replacement}"
    )
    try:
        session = runner(campaign)
    except MachineError as error:
        return Check("Decode", "fail", str(error).partition("; try: ")[0], remedy)
    try:
        prepared = session.prepare(campaign.arms[0].id)
    finally:
        session.close()
    if isinstance(prepared, Failure):
        return Check("Decode", "fail", prepared.detail, remedy)
    written = prepared.warm_up
    rate = 1000 * (written.output_tokens - 1) / written.decode_ms
    return Check("Decode", "ok", f"{rate:.1f} tokens/s with {campaign.target.model.name}")


def _disk() -> Check:
    with files.usable(), TemporaryFile(dir=files.directory()):
        return machine_checks.disk(shutil.disk_usage(files.directory()).free)


def _checked(name: str, check: Callable[[], Check], remedy: str) -> Check:
    """Return the result of a check; an error becomes a failed check."""
    try:
        return check()
    except HarnessError as error:
        return Check(name, "fail", str(error), remedy)
