"""Define the rig of a campaign: machine, engine and snapshots of their state."""

from dataclasses import dataclass
from typing import Literal, get_args

Moment = Literal["before", "after", "during", "warm"]
System = Literal["linux", "macos", "windows", "freebsd", "other"]
Architecture = Literal["x86_64", "aarch64", "riscv64", "ppc64le", "other"]
PowerMode = Literal["low", "balanced", "high"]
Vendor = Literal["nvidia", "amd", "intel", "apple", "qualcomm", "other"]
Backend = Literal[
    "cpu", "cuda", "vulkan", "metal", "rocm", "sycl", "opencl", "cann", "musa", "webgpu",
    "openvino", "npu", "other",
]  # fmt: skip
BACKENDS: dict[str, Backend] = {name: name for name in get_args(Backend)}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingSystem:
    family: System
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    name: str | None = None
    architecture: Architecture | None = None
    logical_cores: int | None = None
    physical_cores: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    name: str
    vendor: Vendor | None = None
    vram_mib: int | None = None
    driver: str | None = None
    api: str | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    power_limit_w: float | None = None
    default_power_limit_w: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    cpu: Cpu
    gpus: tuple[Gpu, ...] = ()
    os: OperatingSystem | None = None
    ram_mib: int | None = None
    ram_type: str | None = None
    ram_mts: int | None = None
    ram_channels: int | None = None
    virtual_machine: bool | None = None
    on_battery: bool | None = None
    power_mode: PowerMode | None = None
    desktop_on_gpu: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    name: str
    kind: Literal["cpu", "gpu", "igpu", "accelerator", "other"]
    description: str | None = None
    memory_total_mib: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    name: str
    value: str


LLAMA_CPP, IK_LLAMA_CPP = "llama.cpp", "ik_llama.cpp"  # names of engines


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    runner: str  # a runner of the vocabulary, or `imported`
    name: str
    backend: Backend
    backend_name: str | None = None
    version: str | None = None
    package_version: str | None = None
    commit: str | None = None
    build_number: int | None = None
    devices: tuple[Device, ...] | None = None
    system_info: str | None = None
    binary_sha256: str | None = None
    variables: tuple[Variable, ...] | None = None

    @property
    def backend_label(self) -> str:
        """The backend's name, even if the list of backends lacks it."""
        return self.backend_name or self.backend


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    moment: Moment
    load_1min: float | None = None
    load_15min: float | None = None
    steal_fraction: float | None = None
    busy_fraction: float | None = None
    cpu_pressure: float | None = None
    cpu_mhz: float | None = None
    cpu_speed_limit: float | None = None
    on_battery: bool | None = None
    gpu_clock_mhz: float | None = None
    gpu_temperature_c: float | None = None
    gpu_power_w: float | None = None
    gpu_throttled: bool | None = None
    steady: bool | None = None
    available_ram_mib: int | None = None
