"""Check an engine: Python, compiler, binding or server, backend, and decoding of a few tokens."""

import platform
import shutil
import sys
from collections.abc import Sequence

from harness.campaign.model import Campaign
from harness.doctor.check import Check, fail, ok, warn
from harness.errors import MachineError
from harness.machine.engines import INSTALL_ENGINE, PACKAGE, SERVER_PROGRAM, vendored_commit
from harness.runners.base import Failure, Runner
from schemas.submission import Device, Gpu
from schemas.vocabulary import say

REINSTALL = f"pip install --force-reinstall --no-cache-dir {PACKAGE}"
PORTABLE_REINSTALL = f'CMAKE_ARGS="-DGGML_NATIVE=OFF" {REINSTALL}'
_OLDEST_PYTHON = (3, 11)
_COMPILERS = ("c++", "g++", "clang++", "cl")
# The build option that makes the binding use a vendor's GPUs.
_BUILD_OPTIONS = {"nvidia": "-DGGML_CUDA=ON", "amd": "-DGGML_HIP=ON", "apple": "-DGGML_METAL=ON"}
_ANY_GPU_OPTION = "-DGGML_VULKAN=ON"
_GPU_KINDS = ("gpu", "igpu")


def python(version: tuple[int, int] = sys.version_info[:2]) -> Check:
    found = f"{platform.python_version()}"
    if version < _OLDEST_PYTHON:
        return fail(
            "Python", found, "Install Python 3.11 or newer, and set up the project with it."
        )
    return ok("Python", found)


def compiler(found: str | None = None) -> Check:
    """Check for a C++ compiler; only installing the binding needs it."""
    name = found or next((c for c in _COMPILERS if shutil.which(c)), None)
    if name is None:
        remedy = f"A compiler is only needed to reinstall {PACKAGE}: g++, clang or Visual Studio."
        return warn("Compiler", "no C++ compiler", remedy)
    return ok("Compiler", name)


def binding(version: str | None, server: str | None = None) -> Check:
    """Check for the binding, or else llama-server, and report the binding's llama.cpp commit."""
    if version is None and server is not None:
        return ok("Binding", f"{PACKAGE} is not installed; runs use {server}")
    if version is None:
        remedy = f"{INSTALL_ENGINE[:1].upper()}{INSTALL_ENGINE[1:]}"
        return fail("Binding", f"{PACKAGE} and {SERVER_PROGRAM} are not installed", remedy)
    commit = vendored_commit(version)
    engine = f" with llama.cpp {commit}" if commit else ""
    return ok("Binding", f"{PACKAGE} {version}{engine}")


def backend(devices: Sequence[Device] | None, gpus: Sequence[Gpu]) -> Check:
    """Check whether the binding can use this machine's GPUs.

    If `devices` is `None`, the binding's libraries did not load.
    """
    if devices is None:
        return fail(
            "Backend", "the engine's libraries cannot be loaded", f"Run: {PORTABLE_REINSTALL}"
        )
    listed = ", ".join(f"{d.name} ({d.description})" if d.description else d.name for d in devices)
    if gpus and not any(device.kind in _GPU_KINDS for device in devices):
        vendors = (gpu.vendor or "" for gpu in gpus)
        options = (_BUILD_OPTIONS[vendor] for vendor in vendors if vendor in _BUILD_OPTIONS)
        option = next(options, _ANY_GPU_OPTION)
        remedy = (
            f"This machine has {say.listed([gpu.name for gpu in gpus])}, "
            "but the binding was built for the CPU only. "
            f'Run: CMAKE_ARGS="{option}" {REINSTALL}'
        )
        return warn("Backend", listed, remedy)
    return ok("Backend", listed)


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
        return fail("Decode", str(error).partition("; try: ")[0], remedy)
    try:
        prepared = session.prepare(campaign.arms[0].id)
    finally:
        session.close()
    if isinstance(prepared, Failure):
        return fail("Decode", prepared.detail, remedy)
    written = prepared.warm_up
    rate = 1000 * (written.output_tokens - 1) / written.decode_ms
    return ok("Decode", f"{rate:.1f} tokens/s with {campaign.target.model.name}")


def server_devices(listed: Sequence[Device], gpus: Sequence[Gpu]) -> Check:
    if listed:
        return ok("Backend", ", ".join(f"{each.name} ({each.description})" for each in listed))
    if gpus:
        remedy = (
            "Install the GPU's driver, or name a server built for this GPU with --server-binary."
        )
        return warn(
            "Backend", f"the server does not see {say.listed([g.name for g in gpus])}", remedy
        )
    return ok("Backend", "the processor")
