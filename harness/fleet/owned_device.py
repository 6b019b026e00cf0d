"""Choose a worker's device: the variables that hide all other devices, and its resources."""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness import __version__
from harness.errors import BadInputError
from harness.fleet.matrix import MatrixRun
from harness.machine.detect import machine
from harness.machine.engines import OWN_DEVICE

_NAME = re.compile(r"cpu|(?:(cuda|vulkan|rocm):)?(\d{1,2})")
# The variable that hides all but one device of a backend.
_VISIBLE = {
    "cuda": "CUDA_VISIBLE_DEVICES",
    "vulkan": "GGML_VK_VISIBLE_DEVICES",
    "rocm": "HIP_VISIBLE_DEVICES",
}
# The backends for each vendor's devices, unless --backend names others.
_BACKENDS: Mapping[str | None, tuple[str, ...]] = {
    "nvidia": ("cuda", "vulkan"),
    "amd": ("rocm", "vulkan"),
    "intel": ("sycl", "vulkan"),
    "apple": ("metal",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedDevice:
    """A device of this machine, with the environment for its runs and the resources it offers."""

    name: str
    environment: Mapping[str, str]
    resources: Mapping[str, float]


def owned_device(
    name: str | None = None, rig: str | None = None, backends: Sequence[str] = ()
) -> OwnedDevice:
    """Return a worker's device: `name`, else `CUDA_VISIBLE_DEVICES`, else the first GPU or CPU.

    Raises `BadInputError`.
    """
    here = machine()
    gpus, slurm = here.gpus, os.environ.get("CUDA_VISIBLE_DEVICES")
    if name is None and slurm:
        name = re.sub(r"[^A-Za-z0-9-]", "-", slurm)
        environment = {OWN_DEVICE: name}
    else:
        name = name or ("0" if gpus else "cpu")
        match = _NAME.fullmatch(name)
        if match is None:
            raise BadInputError(f"--device {name}: give cpu, a number, or cuda:0, vulkan:0, rocm:0")
        backend, number = match.groups()
        # The environment makes CUDA count in the driver's order, so device 0 is nvidia-smi's device
        # 0. A card's number may differ between backends; runs with the same number never overlap,
        # on any backend.
        seen = {_VISIBLE[each]: number or "" for each in _VISIBLE if backend in (None, each)}
        hidden = dict.fromkeys(_VISIBLE.values(), "")
        own = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", OWN_DEVICE: number or "cpu"}
        environment = {**hidden, **seen, **own}
        gpus = gpus[int(number) :][:1] if number else ()
    rig = rig or re.sub(r"[^A-Za-z0-9_-]+", "-", platform.node().partition(".")[0]) or "rig"
    offered = backends or next((_BACKENDS.get(gpu.vendor, ("vulkan",)) for gpu in gpus), ("cpu",))
    memory_mib = sum(gpu.vram_mib or 0 for gpu in gpus) or here.ram_mib or 0
    resources = {"device": 1.0, "memory-gib": memory_mib / 1024, f"draftmap-{__version__}": 1.0}
    resources |= {f"rig-{rig}": 1.0, **{f"backend-{backend}": 1.0 for backend in offered}}
    return OwnedDevice(name=f"{rig}:{name}", environment=environment, resources=resources)


def owned_devices(names: Sequence[str], *, alone: bool) -> list[OwnedDevice]:
    """Return the named devices, by default every GPU (or `cpu`) if `alone`, else none.

    `alone` means that no other machine can connect. Raises `BadInputError`.
    """
    found = [str(number) for number, _ in enumerate(machine().gpus)] or ["cpu"]
    return [owned_device(name) for name in names or (found if alone else ())]


def require_able(devices: Sequence[OwnedDevice], runs: Sequence[MatrixRun]) -> None:
    """Raise `BadInputError` for a run that no device can measure."""
    for run in runs:
        lacking = [
            [name for name, need in run.needs.items() if device.resources.get(name, 0) < need]
            for device in devices
        ]
        if all(lacking):
            missing = min(lacking, key=len)
            raise BadInputError(
                f"{run.id} needs {', '.join(missing)}, which no device of this machine offers; "
                "name a suitable device with --device, or let other machines connect with "
                "--listen 0.0.0.0:8786"
            )
