"""Pre-flight: what keeps a run from its answer, found before the first trial.

`doctor`, a dry run, `run` and `tune` print the same lines.
"""

import os
from collections.abc import Iterator, Sequence

from estimates.flags.machine_state import needs_readings
from estimates.used_gpus import shares_memory
from harness.campaign.model import Campaign
from harness.errors import MachineError
from harness.machine import nvidia
from harness.machine.detect import machine
from harness.machine.engines import OWN_DEVICE, PACKAGE, SERVER_PROGRAM
from harness.machine.environment import power_mode
from harness.run.chosen_engine import ChosenEngine
from schemas.submission import Gpu
from schemas.vocabulary import DEFAULT_RUNNER, say
from schemas.vocabulary.flags import FLAGS, filled

REINSTALL = f"pip install --force-reinstall --no-cache-dir {PACKAGE}"
# The build option that makes the binding use a vendor's GPUs.
_BUILD_OPTIONS = {"nvidia": "-DGGML_CUDA=ON", "amd": "-DGGML_HIP=ON", "apple": "-DGGML_METAL=ON"}
_ANY_GPU_OPTION = "-DGGML_VULKAN=ON"
# Engines whose answers and pages have no counters of drafted tokens, and those that may have none.
_UNCOUNTED, _UNSURE = ("Ollama",), ("unknown server",)
LOW_POWER = FLAGS["low-power"]
_SERVER_CURE = "install the GPU's driver, name a server built for this GPU with --server-binary"


def ready(engine: ChosenEngine, campaign: Campaign) -> Iterator[str]:
    """Yield what to know before an engine runs a campaign.

    Raises `HarnessError` if the engine does not see the card, or does not show where it computes.
    """
    if power_mode() == "low":
        yield filled(LOW_POWER.docs, LOW_POWER.bounds) + f" {LOW_POWER.remedy}"
    seen = engine.adapter().seen(campaign)
    if seen is None:
        return
    gpus = machine().gpus
    own = [gpu for gpu in gpus if gpu.vendor == "apple" or not shares_memory(gpu)]
    chosen = (engine.connection.backend, os.environ.get(OWN_DEVICE))
    chose_cpu = "cpu" in chosen or not campaign.settings.gpu_layers
    lists_devices = engine.runner in (DEFAULT_RUNNER, SERVER_PROGRAM)
    if own and lists_devices and seen.backend == "cpu" and not chose_cpu:
        cure = _SERVER_CURE if engine.runner == SERVER_PROGRAM else _rebuilt(own)
        raise MachineError(
            f"{engine.runner} does not see {say.listed([gpu.name for gpu in own])}: {cure}, or "
            "measure the CPU with --gpu-layers 0"
        )
    if needs_readings(seen.backend, gpus) and nvidia.state() == nvidia.GpuState():
        named = [device.description or device.name for device in seen.devices or ()]
        named = named or [gpu.name for gpu in gpus] or ["the card"]
        yield (
            f"The state of {say.listed(named)} cannot be read on this machine, so a result gets no "
            "verdict and no vote: install nvidia-smi, or make it available in the container "
            "(NVIDIA_DRIVER_CAPABILITIES=compute,utility)."
        )
    if seen.name in _UNCOUNTED:
        yield (
            f"{seen.name} does not report how many tokens it drafted: the speedup is "
            "measured, but acceptance and the cost of a round stay unknown."
        )
    if seen.name in _UNSURE:
        yield (
            "It is not known whether this server reports how many tokens it drafted: if it does "
            "not, acceptance and the cost of a round stay unknown."
        )


def _rebuilt(gpus: Sequence[Gpu]) -> str:
    options = (_BUILD_OPTIONS.get(gpu.vendor or "") for gpu in gpus)
    option = next(filter(None, options), _ANY_GPU_OPTION)
    return f'reinstall it with CMAKE_ARGS="{option}" {REINSTALL}'
