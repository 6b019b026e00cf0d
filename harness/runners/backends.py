"""Name the backend that runs the target, by the devices that ggml lists."""

import re
from collections.abc import Iterable

from schemas.rig import Backend
from schemas.submission import Device

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
    "WebGPU": "webgpu",
    "OPENVINO": "openvino",
    "HTP": "npu",
}


def backend_named(found: Iterable[Device], *, gpu_layers: int) -> Backend:
    """The backend that runs the target: the first device that is no CPU, if layers go there."""
    if gpu_layers == 0:
        return "cpu"
    for device in found:
        if device.kind in ("gpu", "igpu"):
            prefix = re.sub(r"[0-9:]+$", "", device.name)
            return _BACKENDS.get(prefix, "other")
    return "cpu"
