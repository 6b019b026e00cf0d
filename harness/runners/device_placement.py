"""The backend of an arm, from ggml's list of devices, and the models' layers on the GPU."""

from collections.abc import Iterable

from harness.campaign.model import ArmPlan, Campaign, layers_of
from schemas.rig import Backend
from schemas.submission import Device, Placement

# ggml's names for the devices of each backend.
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
    """Return the backend that runs the target: the first GPU's if any layer is on a GPU."""
    if gpu_layers == 0:
        return "cpu"
    for device in found:
        if device.kind in ("gpu", "igpu"):
            prefix = device.name.rstrip("0123456789:")
            return _BACKENDS.get(prefix, "other")
    return "cpu"


def placement_of(
    arm: ArmPlan, campaign: Campaign, *, target_layers: int | None, draft_layers: int | None
) -> Placement:
    """Return the GPU layers of target and draft: those that an arm requests, and those resident."""
    settings = campaign.settings
    drafts = arm.method.draft is not None
    return Placement(
        target_gpu_layers_requested=layers_of(arm, settings),
        target_gpu_layers_resident=target_layers,
        draft_gpu_layers_requested=settings.draft_gpu_layers if drafts else None,
        draft_gpu_layers_resident=draft_layers if drafts else None,
    )
