"""Check an engine: compiler, binding or server, backend, and decoding of a few tokens."""

import shutil
from collections.abc import Sequence

from harness.campaign.model import Campaign
from harness.doctor.check import Check
from harness.errors import MachineError
from harness.machine.engines import INSTALL_ENGINE, PACKAGE, SERVER_PROGRAM, vendored_commit
from harness.runners.base import Failure, Runner
from schemas.submission import Device, Gpu
from schemas.vocabulary import say

REINSTALL = f"pip install --force-reinstall --no-cache-dir {PACKAGE}"
PORTABLE_REINSTALL = f'CMAKE_ARGS="-DGGML_NATIVE=OFF" {REINSTALL}'
_COMPILERS = ("c++", "g++", "clang++", "cl")
# The build option that makes the binding use a vendor's GPUs.
_BUILD_OPTIONS = {"nvidia": "-DGGML_CUDA=ON", "amd": "-DGGML_HIP=ON", "apple": "-DGGML_METAL=ON"}
_ANY_GPU_OPTION = "-DGGML_VULKAN=ON"
_GPU_KINDS = ("gpu", "igpu")


def compiler() -> Check:
    """Check for a C++ compiler; only installing the binding needs it."""
    name = next((c for c in _COMPILERS if shutil.which(c)), None)
    if name is None:
        remedy = f"A compiler is only needed to reinstall {PACKAGE}: g++, clang or Visual Studio."
        return Check("Compiler", "warn", "no C++ compiler", remedy)
    return Check("Compiler", "ok", name)


def binding(version: str | None, server: str | None = None) -> Check:
    """Check for the binding, or else llama-server, and report the binding's llama.cpp commit."""
    if version is None and server is not None:
        return Check("Binding", "ok", f"{PACKAGE} is not installed; runs use {server}")
    if version is None:
        missing = f"{PACKAGE} and {SERVER_PROGRAM} are not installed"
        return Check("Binding", "fail", missing, INSTALL_ENGINE[:1].upper() + INSTALL_ENGINE[1:])
    commit = vendored_commit(version)
    engine = f" with llama.cpp {commit}" if commit else ""
    return Check("Binding", "ok", f"{PACKAGE} {version}{engine}")


def backend(devices: Sequence[Device] | None, gpus: Sequence[Gpu]) -> Check:
    """Check whether the binding can use this machine's GPUs.

    If `devices` is `None`, the binding's libraries did not load.
    """
    if devices is None:
        found = "the engine's libraries cannot be loaded"
        return Check("Backend", "fail", found, f"Run: {PORTABLE_REINSTALL}")
    listed = ", ".join(f"{d.name} ({d.description})" if d.description else d.name for d in devices)
    if gpus and not any(device.kind in _GPU_KINDS for device in devices):
        options = (_BUILD_OPTIONS.get(gpu.vendor or "") for gpu in gpus)
        option = next(filter(None, options), _ANY_GPU_OPTION)
        remedy = (
            f"This machine has {say.listed([gpu.name for gpu in gpus])}, "
            "but the binding was built for the CPU only. "
            f'Run: CMAKE_ARGS="{option}" {REINSTALL}'
        )
        return Check("Backend", "warn", listed, remedy)
    return Check("Backend", "ok", listed)


def decode(runner: Runner, campaign: Campaign, replacement: str) -> Check:
    """Let the engine write a few tokens: a build for a different CPU crashes only when it decodes.

    `replacement` is the advice for installing a different build.
    """
    remedy = (
        "Name another model with --model. If no model works, this build does not suit this "
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


def server_backend(devices: Sequence[Device], gpus: Sequence[Gpu]) -> Check:
    """Check whether llama-server can use this machine's GPUs."""
    if gpus and not devices:
        found = f"the server does not see {say.listed([gpu.name for gpu in gpus])}"
        remedy = (
            "Install the GPU's driver, or name a server built for this GPU with --server-binary."
        )
        return Check("Backend", "warn", found, remedy)
    listed = ", ".join(f"{each.name} ({each.description})" for each in devices)
    return Check("Backend", "ok", listed or "the processor")
