"""Which checks are made, in which order? All of them: a failed one does not keep others back."""

from __future__ import annotations

import shutil
import time
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import psutil

from harness import cache
from harness.detect import energy
from harness.detect.machine import machine as describe_machine
from harness.detect.watch import Watch
from harness.doctor import hardware, software
from harness.doctor.check import fail
from harness.doctor.decode import decode
from harness.engine_version import package_version
from harness.errors import HarnessError
from harness.models.presets import DEFAULT_DRAFT
from harness.models.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.doctor.check import Check
    from schemas.submission import Device

_MIB = 1024 * 1024


def examine(*, model: str | None, say: Callable[[str], None]) -> Iterator[Check]:
    """All checks, each as soon as it is known."""
    machine = describe_machine()
    state = Watch().snapshot("before")
    ram = psutil.virtual_memory()
    yield software.python()
    yield software.compiler()
    yield software.binding(package_version())
    yield hardware.processor(machine)
    yield hardware.gpu(machine)
    yield software.backend(_devices(), machine.gpus)
    yield hardware.memory(ram.total // _MIB, ram.available // _MIB)
    yield _disk()
    yield hardware.power(on_battery=machine.on_battery)
    yield hardware.energy(*energy.availability(machine.gpus))
    yield hardware.load(state, machine.cpu.logical_cores or 1)
    yield hardware.clock(time.perf_counter)
    yield _decode(model, say)


def _devices() -> tuple[Device, ...] | None:
    try:
        # Not at the top: without a working binding the doctor must still run, and say so.
        from harness.runners.ggml_devices import devices  # noqa: PLC0415
    except (ImportError, OSError, RuntimeError):
        return None
    return devices()


def _disk() -> Check:
    try:
        with cache.usable(), TemporaryFile(dir=cache.directory()):
            return hardware.disk(shutil.disk_usage(cache.directory()).free)
    except HarnessError as error:
        return fail("Disk", str(error), "Models and unfinished runs are kept there.")


def _decode(model: str | None, say: Callable[[str], None]) -> Check:
    try:
        weights = resolve(model or DEFAULT_DRAFT, say=say)
    except HarnessError as error:
        return fail("Decode", str(error), "Name a model that is on this disk with --model.")
    return decode(weights.path)
