"""Describe a Windows machine: CPU, GPUs and memory, from CIM."""

from collections.abc import Mapping
from dataclasses import dataclass

from estimates.gpu_names import known_vendor
from harness.machine.command import output
from harness.machine.lenient_json import line, objects, parsed_object, whole
from schemas.codec import Json
from schemas.submission import Gpu

_QUERY = (
    "@{cpu=@(Get-CimInstance Win32_Processor | Select-Object Name);"
    "gpu=@(Get-CimInstance Win32_VideoController | Select-Object Name,DriverVersion);"
    "ram=@(Get-CimInstance Win32_PhysicalMemory | Select-Object ConfiguredClockSpeed,"
    "SMBIOSMemoryType)} | ConvertTo-Json -Depth 3 -Compress"
)
# Type numbers of the SMBIOS specification, table "Memory Device - Type".
_MEMORY_TYPES = {24: "DDR3", 26: "DDR4", 27: "LPDDR", 30: "LPDDR4", 34: "DDR5", 35: "LPDDR5"}
# Display drivers without hardware: remote desktops and the fallback driver.
_NOT_A_GPU = ("microsoft basic", "remote display", "virtual display")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The hardware that CIM lists: CPU, GPUs (whose memory size is unreliable) and type of RAM."""

    cpu_name: str | None = None
    gpus: tuple[Gpu, ...] = ()
    ram_type: str | None = None
    ram_mts: int | None = None


def windows_parts() -> Parts:
    text = output("powershell", "-NoProfile", "-NonInteractive", "-Command", _QUERY)
    return parse_parts(text) if text else Parts()


def parse_parts(text: str) -> Parts:
    """Parse the hardware in the output of the CIM query; malformed entries are left out."""
    document = parsed_object(text)
    memory = next(iter(objects(document.get("ram"))), {})
    cpu = next(iter(objects(document.get("cpu"))), {})
    return Parts(
        cpu_name=line(cpu.get("Name")),
        gpus=tuple(filter(None, map(_gpu, objects(document.get("gpu"))))),
        ram_type=_MEMORY_TYPES.get(whole(memory.get("SMBIOSMemoryType")) or 0),
        ram_mts=whole(memory.get("ConfiguredClockSpeed"), least=100, most=100_000),
    )


def _gpu(entry: Mapping[str, Json]) -> Gpu | None:
    name = line(entry.get("Name"))
    if name is None or any(word in name.lower() for word in _NOT_A_GPU):
        return None
    return Gpu(name=name, vendor=known_vendor(name), driver=line(entry.get("DriverVersion")))
