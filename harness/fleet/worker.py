"""A worker owns one device of this machine: it measures one cell after the other on it.

Each cell is `run` in a child process, whose result file is the answer. The child ends with its
worker: interrupted where the scheduler is lost, by its guard where the worker is killed.
"""

import asyncio
import os
import platform
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin
from filelock import FileLock, Timeout

from harness import __version__, files
from harness.errors import MachineError, UsageError
from harness.fleet import network
from harness.fleet.job import Order, Outcome, carry_out, interrupt
from harness.fleet.placement import Device
from harness.machine import nvidia
from harness.machine.command import own_module
from harness.machine.detect import machine
from harness.machine.engines import OWN_DEVICE
from schemas.submission import Gpu

TOPIC = "draftmap"
_NOTHING_TO_RESUME = "nothing to resume"
_AGAIN_S = 2.0
_ENOUGH_RESTARTS = 20
_LOCAL_PATIENCE = "5"  # they end with the fleet that started them
_END_LIMIT_S = 60.0
_DEVICE = re.compile(r"cpu|(?:(?P<backend>[a-z]+):)?(?P<number>\d{1,2})")
# Which variable hides all devices of a backend but one.
_VISIBLE = {
    "cuda": "CUDA_VISIBLE_DEVICES",
    "vulkan": "GGML_VK_VISIBLE_DEVICES",
    "rocm": "HIP_VISIBLE_DEVICES",
}
# What a device of a maker computes with, unless --backend says something else.
_BACKENDS: Mapping[str | None, tuple[str, ...]] = {
    "nvidia": ("cuda", "vulkan"),
    "amd": ("rocm", "vulkan"),
    "intel": ("sycl", "vulkan"),
    "apple": ("metal",),
}


def variables(device: str) -> dict[str, str]:
    """The environment in which only this device is seen. Raises `UsageError`.

    CUDA counts as the driver does, so that 0 means what nvidia-smi calls 0.
    """
    match = _DEVICE.fullmatch(device)
    if match is None or match["backend"] not in (None, *_VISIBLE):
        message = f"--device {device}: give cpu, a number, or cuda:0, vulkan:0, rocm:0"
        raise UsageError(message)
    chosen = dict.fromkeys(_VISIBLE.values(), "")
    for backend, variable in _VISIBLE.items():
        if match["number"] is not None and match["backend"] in (None, backend):
            chosen[variable] = match["number"]
    # One card has a number per backend, so a number is one device, whatever the backend.
    own = device.rpartition(":")[2]
    return {**chosen, "CUDA_DEVICE_ORDER": "PCI_BUS_ID", OWN_DEVICE: own}


def own_device(rig: str, device: str | None, backends: tuple[str, ...]) -> Device:
    """The device of this worker, hidden from nobody but its children, and what it is."""
    inherited = os.environ.get("CUDA_VISIBLE_DEVICES")
    if device is None and inherited:  # as Slurm sets it
        os.environ[OWN_DEVICE] = device = re.sub(r"[^A-Za-z0-9-]", "-", inherited)
    else:
        device = device or ("0" if machine().gpus else "cpu")
        os.environ.update(variables(device))
    nvidia.visible.cache_clear()
    found = machine()
    number = re.sub(r"\D", "", device)
    gpus = () if device == "cpu" else found.gpus
    if len(gpus) > 1 and number.isdecimal() and int(number) < len(gpus):
        gpus = (gpus[int(number)],)
    offered = backends or next((_BACKENDS.get(each.vendor, ("vulkan",)) for each in gpus), ("cpu",))
    return Device(
        rig=rig,
        name=device,
        about=" + ".join(map(_about, gpus)) or found.cpu.name or "processor",
        backends=offered,
        memory_gib=_memory_gib(gpus, found.ram_mib),
    )


def _about(gpu: Gpu) -> str:
    return f"{gpu.name} {gpu.vram_mib / 1024:.0f} GB" if gpu.vram_mib else gpu.name


def _memory_gib(gpus: tuple[Gpu, ...], ram_mib: int | None) -> float | None:
    """The memory of the cards; of the machine where they have none of their own."""
    known = [gpu.vram_mib for gpu in gpus if gpu.vram_mib]
    total_mib = sum(known) if known else ram_mib
    return None if total_mib is None else round(total_mib / 1024, 1)


def default_rig() -> str:
    """The name of this machine in the fleet; it stands in no result."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", platform.node().partition(".")[0]).strip("-") or "rig"


_device: list[Device] = []


def describe() -> tuple[str, Device]:
    """The version and the device of this worker; the scheduler's side asks for it."""
    return __version__, _device[0]


def measure(order: Order) -> Outcome:
    """Run a cell in a child process; called by the scheduler's side, in the worker's thread."""
    worker = get_worker()

    def tell(line: str) -> None:
        worker.log_event(TOPIC, {"cell": order.cell, "line": line})

    outcome = carry_out(order, tell)
    if order.resume and any(_NOTHING_TO_RESUME in line for line in outcome.lines):
        outcome = carry_out(Order(cell=order.cell, arguments=order.arguments), tell)
    return outcome


class _EndsChild(WorkerPlugin):  # type: ignore[misc]  # the library is not typed
    """A worker that closes, such as one whose scheduler is gone, ends its cell first."""

    name = "draftmap-ends-child"

    async def teardown(self, worker: Any) -> None:  # noqa: ANN401, ARG002 - as the library calls it
        await asyncio.to_thread(interrupt)


async def serve(
    scheduler: network.Address,
    keys: Path,
    device: Device,
    *,
    patience_s: float,
    say: Callable[[str], None],
) -> None:
    """Work for a scheduler until it has been silent for `patience_s`; it may come back before.

    Raises `MachineError` where another worker has the device, or no scheduler ever answered.
    """
    network.configure()
    _device[:] = [device]
    lock = FileLock(files.directory() / f"worker-{os.environ[OWN_DEVICE]}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        message = f"another worker on this machine has the device {device.name}"
        raise MachineError(message) from None
    with lock:
        until = time.monotonic() + patience_s
        worked = silent = False
        while time.monotonic() < until:
            if await _work(scheduler, keys, device, say):
                worked, until = True, time.monotonic() + patience_s
                silent = False
            elif not silent:
                silent = True
                say(f"{scheduler} does not answer; waiting for it up to {patience_s:.0f} s.")
            await asyncio.sleep(_AGAIN_S)
    if not worked:
        message = f"no scheduler answers at {scheduler}; start it, or check --scheduler and --tls"
        raise MachineError(message)
    say(f"{scheduler} has been silent for {patience_s:.0f} s; this worker ends.")


async def _work(
    scheduler: network.Address, keys: Path, device: Device, say: Callable[[str], None]
) -> bool:
    """Work until the scheduler is gone; whether it was there at all."""
    worker = Worker(
        str(scheduler),
        nthreads=1,
        name=str(device.place),
        resources=device.resources(),
        memory_limit=0,
        security=network.security(scheduler, keys),
        host=network.LOOPBACK if scheduler.loopback else None,
        dashboard_address=f"{network.LOOPBACK}:0",
        plugins=(_EndsChild(),),
        death_timeout=_AGAIN_S,
    )
    try:
        await worker
        say(f"{device.place} ({device.about}) works for {scheduler}.")
        await worker.finished()
    except (OSError, TimeoutError, RuntimeError, ValueError):
        return False
    finally:
        await worker.close()
    return True


@dataclass(slots=True, kw_only=True)
class LocalWorkers:
    """The workers of this machine, as programs of their own: one that dies is started again."""

    devices: Sequence[str]
    arguments: Sequence[str]
    log: Path
    program: Sequence[str] = ()
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _starts: Counter[str] = field(default_factory=Counter)
    _began_s: dict[str, float] = field(default_factory=dict)
    _scheduler: str = ""

    def start(self, scheduler: network.Address) -> None:
        """Start one for every device."""
        self._scheduler = str(scheduler)
        for device in self.devices:
            self._start(device)

    def restart(self) -> None:
        """Start again what died. Raises `MachineError` when one dies again and again."""
        for device, process in [*self._processes.items()]:
            if process.poll() is None or time.monotonic() - self._began_s[device] < _AGAIN_S:
                continue
            if self._starts[device] > _ENOUGH_RESTARTS:
                message = f"the worker for device {device} does not stay; see {self.log}"
                raise MachineError(message)
            self._start(device)

    def stop(self) -> None:
        """End them all, kindly first: each ends its cell and keeps its journal."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            _await(process)

    def pids(self) -> dict[str, int]:
        """The ids of the processes by device."""
        return {device: each.pid for device, each in self._processes.items()}

    def _start(self, device: str) -> None:
        self._starts[device] += 1
        self._began_s[device] = time.monotonic()
        program = self.program or [*own_module("harness"), "fleet", "worker"]
        with self.log.open("ab") as log:
            self._processes[device] = subprocess.Popen(  # noqa: S603 - this program
                [
                    *program, "--scheduler", self._scheduler, "--device", device,
                    "--patience", _LOCAL_PATIENCE, *self.arguments,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )  # fmt: skip


def _await(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
