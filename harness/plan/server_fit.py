"""Ask a llama-server what it would allocate: it fits a model before it loads it (`-fit on`).

That needs no weights, so a sparse file with only the header will do; the server is ended before it
loads.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

from estimates.plan.model import Setting
from harness.machine.engines import server_environment
from harness.models.gguf_file import opened, part_paths, sparse_copy

_TIMEOUT_S = 60
_REASON_LENGTH = 160
_MIB_SIZE = r"([\d.]+) MiB"
_COMPUTE = re.compile(rf"(\S+) compute buffer size = +{_MIB_SIZE}")
_CACHE = re.compile(rf"llama_kv_cache\w*: size = +{_MIB_SIZE}")
_STATE = re.compile(rf"llama_memory_recurrent: size = +{_MIB_SIZE}")
_OUTPUT = re.compile(rf"output buffer size = +{_MIB_SIZE}")
# A row of the table that llama-server prints: MiB of weights, caches and states, and compute.
_PLACE = re.compile(
    r"memory_breakdown_print: \|\s+- (\S+).*?=\s+(\d+) \+\s+(\d+) \+\s+(\d+)\s*[|)]"
)
HOST = "Host"
_FITTED = "fitting params to free memory took"
_STAMP = re.compile(r"^[\d.]+ [EW] ")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLoad:
    """One model as the server is asked to load it; `words` are more arguments."""

    path: str
    setting: Setting
    layers: int
    cpu_experts: int = 0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedSizes:
    """What a server would allocate for one model, in MiB; compute buffers by backend.

    `places` has whole MiB of weights, and of caches with states, by device.
    """

    kv: float
    recurrent: float
    output: float
    compute: dict[str, float]
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def host_compute(self) -> float:
        """The compute buffers in host memory, which are the CPU's and those that a GPU reads."""
        return sum(mib for name, mib in self.compute.items() if _is_host(name))

    @property
    def on_devices(self) -> tuple[float, ...]:
        """The compute buffers of the devices, in their order."""
        return tuple(mib for name, mib in self.compute.items() if not _is_host(name))


def _is_host(backend: str) -> bool:
    return backend.startswith(("CPU", "BLAS")) or backend.endswith("_Host")


def allocated_sizes(program: Path, loads: Sequence[ServerLoad]) -> tuple[AllocatedSizes, ...] | str:
    """What the server would allocate for each load, or its reason for not saying."""
    found = []
    with TemporaryDirectory(prefix="draftmap-plan-") as folder:
        for number, load in enumerate(loads):
            path = _header_only(Path(load.path), Path(folder) / str(number))
            log = _log_until_fitted(program, _arguments(replace(load, path=str(path))))
            places = {name: (int(a), int(b)) for name, a, b, _ in _PLACE.findall(log)}
            if not places:
                return _refusal(log)
            found.append(
                replace(parsed(log.rpartition("memory breakdown [MiB]")[0]), places=places)
            )
    return tuple(found)


def _header_only(path: Path, folder: Path) -> Path:
    """Sparse copies of the parts of a model, so that a server that goes on reads nothing."""
    folder.mkdir()
    for part in part_paths(path):
        header = opened(part)
        sparse_copy(header.data[: header.end], part.stat().st_size, folder / part.name)
    return folder / path.name


def _arguments(load: ServerLoad) -> list[str]:
    setting = load.setting
    words = ["-m", load.path, "-c", str(setting.context), "-np", str(setting.slots)]
    words += ["-ub", str(setting.ubatch), "-b", str(max(2048, setting.ubatch))]
    words += ["-ngl", str(load.layers), "-fa", "auto" if setting.flash_attention else "off"]
    words += ["-ctk", setting.kv_k, "-ctv", setting.kv_v, *load.words]
    words += ["-kvu"] if setting.unified and setting.slots > 1 else []
    words += ["--swa-full"] if setting.whole_window else []
    words += ["-ncmoe", str(load.cpu_experts)] if load.cpu_experts else []
    return [*words, "-fit", "on", "-lv", "5", "--no-warmup", "--host", "127.0.0.1", "--port", "0"]


def _log_until_fitted(program: Path, arguments: Sequence[str]) -> str:
    """What a server logs until it knows what it would allocate; it is ended before it loads."""
    process = subprocess.Popen(  # noqa: S603 - the program that the user named or installed
        [str(program), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=server_environment(program),
    )
    limit = Timer(_TIMEOUT_S, process.kill)
    limit.start()
    lines = []
    with process:
        for line in process.stdout or ():
            if _FITTED in line:
                break
            lines.append(line)
        limit.cancel()
        process.kill()
    return "".join(lines)


def _refusal(log: str) -> str:
    """The line in which a server says why it simulates nothing."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    wrong = [line for line in lines if "error" in line.lower() or "invalid" in line.lower()]
    reason = _STAMP.sub("", (wrong or lines or ["it logged nothing"])[0])
    return reason.rpartition(": error ")[2][:_REASON_LENGTH]


def parsed(log: str) -> AllocatedSizes:
    """The sizes in the engine's log of one model."""
    return AllocatedSizes(
        kv=sum(map(float, _CACHE.findall(log))),
        recurrent=sum(map(float, _STATE.findall(log))),
        output=sum(map(float, _OUTPUT.findall(log))),
        compute={name: float(mib) for name, mib in _COMPUTE.findall(log)},
    )
