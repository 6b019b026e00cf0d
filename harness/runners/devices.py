"""The devices of the installed ggml, their memory in use, and the default number of threads."""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import psutil

from harness.machine.command import output, own_module
from schemas.submission import Device, DeviceMemory

Kind = Literal["cpu", "gpu", "igpu", "accelerator", "other"]

_MIB = 1024 * 1024
_KINDS: dict[int, Kind] = {0: "cpu", 1: "gpu", 2: "igpu", 3: "accelerator"}


class _Properties(ctypes.Structure):
    """`struct ggml_backend_dev_props`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("memory_free", ctypes.c_size_t),
        ("memory_total", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("device_id", ctypes.c_char_p),
        ("capabilities", ctypes.c_bool * 4),
    )


def devices() -> tuple[Device, ...]:
    return tuple(
        Device(
            name=properties.name.decode(),
            kind=_KINDS.get(properties.type, "other"),
            description=properties.description.decode().strip() or None,
            memory_total_mib=properties.memory_total // _MIB,
        )
        for properties in _all_properties()
    )


def listed_by_child() -> tuple[Device, ...] | None:
    """Return the devices as a child process lists them; `None` if its engine does not load.

    A card whose backend was initialised in this process would keep memory for it.
    """
    text = output(*own_module("harness.runners.devices"))
    return msgspec.json.decode(text, type=tuple[Device, ...]) if text else None


class MemoryMeter:
    """Measures memory in use; on GPUs, the drop in free memory since the meter was created."""

    def __init__(self) -> None:
        self._free_mib = _memory_free_mib()

    def in_use(self) -> tuple[DeviceMemory, ...]:
        """Return this process's use of main memory, and the decrease of each GPU's free memory."""
        resident_mib = psutil.Process().memory_info().rss // _MIB
        used = {name: self._free_mib[name] - free for name, free in _memory_free_mib().items()}
        return (
            DeviceMemory(device="CPU", peak_mib=resident_mib),
            *(DeviceMemory(device=name, peak_mib=max(mib, 0)) for name, mib in used.items()),
        )


def _memory_free_mib() -> dict[str, int]:
    """Return the free MiB of each GPU, by device name."""
    return {
        properties.name.decode(): properties.memory_free // _MIB
        for properties in _all_properties()
        if _KINDS.get(properties.type) in ("gpu", "igpu")
    }


def _all_properties() -> list[_Properties]:
    ggml = _ggml()
    found = []
    for index in range(ggml.ggml_backend_dev_count()):
        properties = _Properties()
        device = ggml.ggml_backend_dev_get(index)
        ggml.ggml_backend_dev_get_props(device, ctypes.byref(properties))
        found.append(properties)
    return found


def library(name: str) -> Path:
    """Return the path of the engine's library `ggml` or `llama`, found as llama-cpp-python does."""
    # The import initialises the backends, so it must not happen before the engine is needed.
    import llama_cpp  # noqa: PLC0415 - see above

    folders = (os.environ.get("LLAMA_CPP_LIB_PATH"), Path(llama_cpp.__file__).parent / "lib")
    names = (f"lib{name}.so", f"lib{name}.dylib", f"{name}.dll", f"lib{name}.dll")
    files = (Path(folder, each) for folder in folders if folder for each in names)
    return next(file for file in files if file.exists())


@cache
def _ggml() -> ctypes.CDLL:
    """Return the ggml library that the engine has loaded, with the needed functions declared."""
    from llama_cpp import llama_backend_init  # noqa: PLC0415 - see above

    llama_backend_init()
    ggml = ctypes.CDLL(str(library("ggml")))
    ggml.ggml_backend_dev_count.restype = ctypes.c_size_t
    ggml.ggml_backend_dev_get.argtypes = (ctypes.c_size_t,)
    ggml.ggml_backend_dev_get.restype = ctypes.c_void_p
    ggml.ggml_backend_dev_get_props.argtypes = (ctypes.c_void_p, ctypes.POINTER(_Properties))
    ggml.ggml_backend_dev_get_props.restype = None
    return ggml


def default_threads() -> int:
    """Return the default number of threads: all usable physical cores but one.

    The threads of a step wait for each other at every operation. If one thread shares its core with
    another program, all threads wait: on a busy two-core machine a step took 20 ms with one thread,
    and 50 to 220 ms with two. Leaving one core for other programs costs little on an idle machine.
    """
    usable = len(psutil.Process().cpu_affinity()) if psutil.LINUX else psutil.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or 1, usable) - 1)


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(devices()).decode())
