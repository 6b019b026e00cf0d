"""Which backend runs the target? Told from the names that ggml gives its devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemas.submission import Device

Backend = Literal[
    "cpu", "cuda", "vulkan", "metal", "rocm", "sycl", "opencl", "cann", "musa", "other"
]

# How ggml names devices of each backend; the first device that is no CPU decides.
_BACKENDS: dict[str, Backend] = {
    "CUDA": "cuda",
    "Vulkan": "vulkan",
    "Metal": "metal",
    "MTL": "metal",
    "ROCm": "rocm",
    "HIP": "rocm",
    "SYCL": "sycl",
    "GPUOpenCL": "opencl",
    "CANN": "cann",
    "MUSA": "musa",
}


def backend_named(found: Iterable[Device], *, gpu_layers: int) -> Backend:
    """The backend that runs the target: the first device beside the CPU, if layers go there."""
    if gpu_layers == 0:
        return "cpu"
    for device in found:
        if device.kind in ("gpu", "igpu"):
            prefix = re.sub(r"[0-9:]+$", "", device.name)
            return _BACKENDS.get(prefix, "other")
    return "cpu"
