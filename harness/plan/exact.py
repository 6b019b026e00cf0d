"""Asks the engine itself: it loads a header, simulates all allocations, and logs their sizes.

`no_alloc` of llama.cpp reads no weights, so a sparse file with only the header will do. The binding
runs in a child process, because it may end the process on a header that it does not know. A
llama-server does the same before it loads (`-fit on`) and is ended then.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

from estimates.plan.model import Setting
from harness.machine.command import death, own_module
from harness.machine.engines import server_environment
from harness.models.gguf_file import opened, part_paths, sparse_copy

_TIMEOUT_S = 60
_REASON_LENGTH = 160
_MIB_SIZE = r"([\d.]+) MiB"
_COMPUTE = re.compile(rf"(\S+) compute buffer size = +{_MIB_SIZE}")
_CACHE = re.compile(rf"llama_kv_cache\w*: size = +{_MIB_SIZE}")
_STATE = re.compile(rf"llama_memory_recurrent: size = +{_MIB_SIZE}")
_OUTPUT = re.compile(rf"output buffer size = +{_MIB_SIZE}")
_WEIGHTS = re.compile(r"file size += +([\d.]+) (MiB|GiB)")
# ggml's numbers of types.
_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "bf16": 30}
_TYPES["iq4_nl"] = 20
# A row of the table that llama-server prints: MiB of weights, caches and states, and compute.
_PLACE = re.compile(
    r"memory_breakdown_print: \|\s+- (\S+).*?=\s+(\d+) \+\s+(\d+) \+\s+(\d+)\s*[|)]"
)
HOST = "Host"
_FITTED = "fitting params to free memory took"
_STAMP = re.compile(r"^[\d.]+ [EW] ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One model as the engine is asked to load it. `words` are more arguments for a server."""

    path: str
    setting: Setting
    layers: int
    cpu_experts: int = 0
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What the engine would allocate for one model, in MiB; compute buffers by backend.

    `places` has whole MiB of weights, and of caches with states, by device where it tells them.
    """

    weights: float
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


def simulate(loads: Sequence[Load]) -> tuple[Simulated, ...] | str:
    """What the engine says about each load, or why it says nothing: missing, crashed, refused."""
    asked = json.dumps([asdict(load) for load in loads])
    command = own_module("harness.plan.exact")
    try:
        # Our own module; the models' names come on standard input.
        done = subprocess.run(  # noqa: S603
            command, input=asked, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        return type(error).__name__
    died = death(done.returncode)
    if died is not None:
        return f"it was {died}"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return lines[-1][:_REASON_LENGTH] if lines else f"exit code {done.returncode}"
    try:
        return tuple(Simulated(**each) for each in json.loads(done.stdout))
    except (ValueError, TypeError):
        return "its answer could not be read"


def simulate_by_server(program: Path, loads: Sequence[Load]) -> tuple[Simulated, ...] | str:
    """The same from a llama-server, which also tells what lies on which device."""
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


def _arguments(load: Load) -> list[str]:
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


def parsed(log: str) -> Simulated:
    """The sizes in the engine's log of one model."""
    weights = _WEIGHTS.search(log)
    scale = 1024 if weights and weights[2] == "GiB" else 1
    compute: dict[str, float] = {}
    for name, mib in _COMPUTE.findall(log):
        compute[name] = float(mib)
    return Simulated(
        weights=float(weights[1]) * scale if weights else 0.0,
        kv=sum(map(float, _CACHE.findall(log))),
        recurrent=sum(map(float, _STATE.findall(log))),
        output=sum(map(float, _OUTPUT.findall(log))),
        compute=compute,
    )


def main() -> int:
    """Simulate the loads on standard input; print what the engine logged about each."""
    import ctypes  # noqa: PLC0415 - only the child process loads the engine

    import llama_cpp  # noqa: PLC0415

    lines: list[str] = []

    @llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
    def add(_level: int, text: bytes, _user_data: ctypes.c_void_p) -> None:
        lines.append(text.decode("utf-8", "replace"))

    llama_cpp.llama_log_set(add, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    found = []
    for load in json.load(sys.stdin):
        lines.clear()
        if not _loaded(llama_cpp, load):
            print(_why("".join(lines)), file=sys.stderr)  # noqa: T201 - the answer to the parent
            return 1
        found.append(asdict(parsed("".join(lines))))
    print(json.dumps(found))  # noqa: T201 - the answer to the parent
    return 0


def _why(log: str) -> str:
    """The line that says what is wrong, without the function's name before it."""
    wrong = [line for line in log.splitlines() if "error" in line.lower()]
    return wrong[0].rpartition(": error ")[2].strip() if wrong else "no reason given"


def _loaded(engine: object, load: dict[str, object]) -> bool:
    from typing import Any, cast  # noqa: PLC0415

    api = cast("Any", engine)
    setting = cast("dict[str, Any]", load["setting"])
    params = api.llama_model_default_params()
    params.no_alloc, params.load_mode = True, 0  # mapping is refused together with `no_alloc`
    params.n_gpu_layers = load["layers"]
    model = api.llama_model_load_from_file(str(load["path"]).encode(), params)
    if not model:
        return False
    context = api.llama_context_default_params()
    context.n_ctx, context.n_seq_max = setting["context"], setting["slots"]
    context.n_ubatch = setting["ubatch"]
    context.n_batch = max(context.n_batch, setting["ubatch"])
    context.n_rs_seq = setting["rollback_states"]
    context.n_outputs_max = setting["outputs"] * setting["slots"]
    context.type_k, context.type_v = _TYPES[setting["kv_k"]], _TYPES[setting["kv_v"]]
    context.kv_unified = setting["unified"]
    context.swa_full = setting["whole_window"]
    context.flash_attn_type = -1 if setting["flash_attention"] else 0
    return bool(api.llama_init_from_model(model, context))


if __name__ == "__main__":
    sys.exit(main())
