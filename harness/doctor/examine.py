"""Runs all checks of the doctor in order; a failed one does not stop the others."""

import shutil
import time
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile

import psutil

from harness import files
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS
from harness.doctor import checks
from harness.doctor.checks import Check, fail, ok
from harness.doctor.decode import decode
from harness.errors import HarnessError
from harness.machine import energy
from harness.machine.detect import machine as describe_machine
from harness.machine.environment import Watch
from harness.machine.versions import package_version
from harness.models.presets import DEFAULT_DRAFT
from harness.models.resolve import resolve
from harness.plan.overview import fitting_presets
from schemas.submission import Device

_MIB = 1024 * 1024


def examine(*, model: str | None, say: Callable[[str], None]) -> Iterator[Check]:
    """All checks, each as soon as its result is known."""
    machine = describe_machine()
    state = Watch().snapshot("before")
    ram = psutil.virtual_memory()
    yield checks.python()
    yield checks.compiler()
    yield checks.binding(package_version())
    yield checks.processor(machine)
    yield checks.gpu(machine)
    yield checks.backend(_devices(), machine.gpus)
    yield checks.memory(ram.total // _MIB, ram.available // _MIB)
    yield ok("Models", fitting_presets(machine, DEFAULT_CONTEXT_TOKENS))
    yield _disk()
    yield checks.power(on_battery=machine.on_battery)
    yield checks.energy(*energy.availability(machine.gpus))
    yield checks.load(state, machine.cpu.logical_cores or 1)
    yield checks.clock(time.perf_counter)
    yield _decode(model, say)


def _devices() -> tuple[Device, ...] | None:
    try:
        # Not at the top: without a working binding the doctor must still run, and report it.
        from harness.runners.devices import devices  # noqa: PLC0415
    except (ImportError, OSError, RuntimeError):
        return None
    return devices()


def _disk() -> Check:
    try:
        with files.usable(), TemporaryFile(dir=files.directory()):
            return checks.disk(shutil.disk_usage(files.directory()).free)
    except HarnessError as error:
        return fail("Disk", str(error), "Models and unfinished runs are stored there.")


def _decode(model: str | None, say: Callable[[str], None]) -> Check:
    try:
        weights = resolve(model or DEFAULT_DRAFT, say=say)
    except HarnessError as error:
        return fail("Decode", str(error), "Name a model that is on this disk with --model.")
    return decode(weights.path)
