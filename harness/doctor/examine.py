"""Runs all checks of the doctor in order; a failed one does not stop the others."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile

import psutil

from harness import PROGRAM, files
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS
from harness.doctor import checks
from harness.doctor.checks import PORTABLE_REINSTALL, Check, fail, ok
from harness.errors import HarnessError
from harness.machine import energy
from harness.machine.command import (
    INSTALL_ENGINE,
    death,
    own_module,
    package_version,
    server_program,
)
from harness.machine.detect import machine as describe_machine
from harness.machine.environment import Watch
from harness.models.presets import DEFAULT_DRAFT
from harness.models.resolve import resolve
from harness.plan.overview import fitting_presets
from harness.runners.devices import devices
from harness.runners.llama_server import binary
from schemas.submission import Device, Gpu

_MIB = 1024 * 1024


def examine(*, model: str | None, say: Callable[[str], None]) -> Iterator[Check]:
    """All checks, each as soon as its result is known."""
    machine = describe_machine()
    state = Watch().snapshot("before")
    ram = psutil.virtual_memory()
    yield checks.python()
    yield checks.compiler()
    bound, server = package_version() is not None, server_program()
    yield checks.binding(package_version(), server)
    yield checks.processor(machine)
    yield checks.gpu(machine)
    if bound:
        yield checks.backend(_devices(), machine.gpus)
    elif server is not None:
        yield _server_devices(server, machine.gpus)
    yield checks.memory(ram.total // _MIB, ram.available // _MIB)
    yield ok("Models", fitting_presets(machine, DEFAULT_CONTEXT_TOKENS))
    yield _disk()
    yield checks.power(on_battery=machine.on_battery)
    yield checks.energy(*energy.availability(machine.gpus))
    yield checks.load(state, machine.cpu.logical_cores or 1)
    yield checks.clock(time.perf_counter)
    if bound:
        yield _decode(model, say)


def _devices() -> tuple[Device, ...] | None:
    try:
        # The engine is loaded by this call: without a working one the doctor must still run.
        return devices()
    except (ImportError, OSError, RuntimeError):
        return None


def _server_devices(server: str, gpus: Sequence[Gpu]) -> Check:
    try:
        listed = binary.find(server).devices()
    except HarnessError as error:
        return fail("Backend", str(error), f"Replace it: {INSTALL_ENGINE}")
    return checks.server_devices(listed, gpus)


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


_NAME = "Decode"
_TIMEOUT_S = 300
_REASON_LENGTH = 160


def decode(model: Path) -> Check:
    """Try a real decode with these weights."""
    command = [*own_module("harness.doctor.examine"), str(model)]
    try:
        # Our own module, with a path that has been checked to be a model.
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        remedy = "The machine is overloaded, or the model too large for it; try a smaller one."
        return fail(_NAME, f"no answer within {_TIMEOUT_S} s", remedy)
    return judge(done.returncode, done.stdout, done.stderr, model.name)


def judge(returncode: int, stdout: str, stderr: str, model: str) -> Check:
    """What the child's end means."""
    died = death(returncode)
    if died is not None:
        remedy = (
            "The engine's build does not fit this processor (seen with AMX kernels on Sapphire "
            f"Rapids and GCC 12). Run: {PORTABLE_REINSTALL}"
        )
        return fail(_NAME, f"the engine was {died}", remedy)
    if returncode != 0:
        lines = [line.strip() for line in stderr.splitlines() if line.strip()]
        reason = lines[-1][:_REASON_LENGTH] if lines else f"exit code {returncode}"
        remedy = f"Try another model with `{PROGRAM} doctor --model FILE.gguf`, or install again: "
        return fail(_NAME, reason, remedy + PORTABLE_REINSTALL)
    return ok(_NAME, f"{float(stdout.rsplit(maxsplit=1)[-1]):.1f} tokens/s with {model}")


_STEPS = 16
_PROMPT = "The quick brown fox jumps over the lazy dog and then"


def main(path: str) -> int:
    """Decode and print the rate."""
    from llama_cpp import Llama  # noqa: PLC0415 - only the child process loads the engine

    model = Llama(path, n_ctx=256, n_gpu_layers=-1, verbose=False)
    model.eval(model.tokenize(_PROMPT.encode()))
    start = time.perf_counter()
    for _ in range(_STEPS):
        model.eval([model.sample(temp=0.0)])
    print(f"{_STEPS / (time.perf_counter() - start):.2f}")  # noqa: T201 - the answer to the parent
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
