"""Read the NVIDIA GPUs that this program may use, and their state, from nvidia-smi.

CUDA numbers the GPUs fastest first, not in the driver's order, so CUDA is asked to map its numbers
to PCI addresses.
"""

import ctypes
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from harness.machine.command import output, own_module
from schemas.submission import Gpu

# An idle link falls back to generation 1, so the query requests the highest generation that GPU and
# slot support. The link's width does not change when idle.
_CARD = (
    "name,memory.total,driver_version,pcie.link.gen.max,pcie.link.width.current,"
    "power.limit,power.default_limit,display_active"
)
_STATE = "clocks.current.sm,temperature.gpu,power.draw"
_IDENTITY = "uuid,pci.bus_id"
_VISIBLE = "CUDA_VISIBLE_DEVICES"
# The newer and the older name of the same bit mask.
_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
_NVML = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
_FORMAT = "--format=csv,noheader,nounits"
_IDLE = 0x1
_CUDA_VERSION = re.compile(r"CUDA (?:UMD )?Version\s*:\s*([\d.]+)")
# In plain `nvidia-smi` output if a GPU is partitioned (MIG). No engine computes on the whole GPU.
_SHARED_OUT = "MIG devices:"
_LOST = "[GPU is lost]"
# `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `ERR!` or `N/A`.
_UNSTATED = re.compile(r"\[|ERR!|N/A|$")
# The result format's limit.
_MIB, _GENERATION, _LANES, _MHZ, _CELSIUS, _WATTS = 16_777_216, 8, 32, 20_000, 200, 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The GPUs in the driver's order, and whether any GPU drives a display."""

    gpus: tuple[Gpu, ...]
    display_active: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """Lowest clock, highest temperature, total power, and whether any GPU is throttled."""

    clock_mhz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttled: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardId:
    uuid: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """The value of `CUDA_VISIBLE_DEVICES`, and the PCI addresses of the GPUs that CUDA then shows.

    `variable` is `None` if it is not set; `addresses` is `None` if CUDA does not work.
    """

    variable: str | None = None
    addresses: tuple[str, ...] | None = None

    def of(self, cards: Sequence[CardId]) -> list[int]:
        """Return the positions of the GPUs that this program may use, in the driver's order."""
        if self.variable is None:
            return [*range(len(cards))]
        if self.addresses is not None:
            known = {_short_address(address) for address in self.addresses}
            return [at for at, card in enumerate(cards) if _short_address(card.address) in known]
        chosen: set[int] = set()
        for word in self.variable.split(","):
            found = _named(word.strip(), cards)
            if found is None:  # like CUDA, ignore all entries after a wrong one
                break
            chosen.add(found)
        return sorted(chosen)


def _named(word: str, cards: Sequence[CardId]) -> int | None:
    """Return the position of the GPU with this number, or of the only GPU with this UUID prefix."""
    if word.isdecimal():
        return int(word) if int(word) < len(cards) else None
    fitting = [at for at, card in enumerate(cards) if word and card.uuid.startswith(word)]
    return fitting[0] if len(fitting) == 1 else None


def _short_address(address: str) -> str:
    """Shorten `00000000:01:00.0` to `0000:01:00.0`: tools disagree about the domain's length."""
    domain, _, rest = address.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}" if re.fullmatch(r"[0-9a-f]+", domain) else address


def visible(environment: Mapping[str, str] = os.environ) -> Visible:
    return _visible(environment.get(_VISIBLE))


@cache
def _visible(variable: str | None) -> Visible:
    """Query CUDA in a child process, because CUDA cannot be unloaded."""
    if variable is None:
        return Visible()
    answer = output(*own_module("harness.machine.nvidia"), variables={_VISIBLE: variable})
    return Visible(variable=variable, addresses=tuple(answer.split()) if answer else None)


def cards(environment: Mapping[str, str] = os.environ) -> Cards:
    """Return the NVIDIA GPUs that a program may use; empty without a working driver."""
    text = output("nvidia-smi", f"--query-gpu={_IDENTITY},{_CARD}", _FORMAT)
    if not text:
        return parse_cards("", "")
    return parse_cards(chosen_rows(text, visible(environment)), output("nvidia-smi") or "")


def state() -> GpuState:
    """Return the state of the NVIDIA GPUs that this program may use; empty if there is no GPU."""
    for reasons in _REASONS:
        text = output("nvidia-smi", f"--query-gpu={_IDENTITY},{_STATE},{reasons}", _FORMAT)
        if text:
            return parse_state(chosen_rows(text, visible()))
    return GpuState()


def used_j() -> float | None:
    """Return the joules that the usable GPUs have drawn since their driver was loaded.

    `None` without a driver, and if a GPU has no such counter (before Volta).
    """
    nvml, handles = _counters()
    total, drawn_mj = 0, ctypes.c_ulonglong()
    for handle in handles:
        if nvml is None or nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(drawn_mj)):
            return None
        total += drawn_mj.value
    return total / 1000 if handles else None


@cache
def _counters() -> tuple[ctypes.CDLL | None, tuple[ctypes.c_void_p, ...]]:
    """NVIDIA's management library, and its handles of the usable GPUs."""
    text = output("nvidia-smi", f"--query-gpu={_IDENTITY},uuid", _FORMAT)
    uuids = chosen_rows(text, visible()).split() if text else []
    handles = [ctypes.c_void_p() for _ in uuids]
    try:
        nvml = ctypes.CDLL(_NVML) if uuids else None
    except OSError:
        nvml = None
    if nvml is None or nvml.nvmlInit_v2():
        return None, ()
    for uuid, handle in zip(uuids, handles, strict=True):
        nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle))
    return nvml, tuple(handles)


def chosen_rows(text: str, usable: Visible) -> str:
    """Return nvidia-smi's rows for the usable GPUs, without the columns that identify the GPUs."""
    lines = [line for line in text.splitlines() if line.count(",") >= _IDENTITY.count(",") + 1]
    split = [[part.strip() for part in line.split(",", 2)] for line in lines]
    rows = usable.of([CardId(uuid=uuid, address=address) for uuid, address, _ in split])
    return "\n".join(split[at][2] for at in rows)


def parse_cards(text: str, banner: str) -> Cards:
    """Parse the GPUs in the output of the GPU query; the `banner` contains the CUDA version.

    GPUs that the driver has lost are left out, and all GPUs if any is partitioned (MIG).
    """
    cuda = _CUDA_VERSION.search(banner)
    api = f"CUDA {cuda[1]}" if cuda else None
    rows = [row for row in _rows(text) if len(row) == _CARD.count(",") + 1]
    rows = [row for row in rows if _LOST not in row and not _UNSTATED.match(row[0])]
    rows = [] if _SHARED_OUT in banner else rows
    displays = [row[7] for row in rows]
    states = [display for display in displays if display in ("Enabled", "Disabled", "Yes", "No")]
    active = any(display in ("Enabled", "Yes") for display in states)
    return Cards(
        gpus=tuple(_gpu(row, api) for row in rows), display_active=active if states else None
    )


def parse_state(text: str) -> GpuState:
    """Parse the output of the state query, combining all GPUs into one state."""
    rows = [row for row in _rows(text) if len(row) == _STATE.count(",") + 2]
    clocks, temperatures, powers = (
        [number for row in rows if (number := _number(row[column], most)) is not None]
        for column, most in enumerate((_MHZ, _CELSIUS, _WATTS))
    )
    known = 0 < len(powers) == len(rows) and sum(powers) <= _WATTS
    masks = [int(row[3], 16) for row in rows if re.fullmatch(r"0x[0-9a-fA-F]+", row[3])]
    return GpuState(
        clock_mhz=min(clocks, default=None),
        temperature_c=max(temperatures, default=None),
        power_w=sum(powers) if known else None,
        throttled=any(mask & ~_IDLE for mask in masks) if masks else None,
    )


def _rows(text: str) -> list[list[str]]:
    return [[part.strip() for part in line.split(",")] for line in text.splitlines() if line]


def _gpu(row: list[str], api: str | None) -> Gpu:
    name, memory, driver, generation, width, limit, default_limit, _ = row
    return Gpu(
        name=name,
        vendor="nvidia",
        vram_mib=_whole(memory, _MIB),
        driver=None if _UNSTATED.match(driver) else driver,
        api=api,
        pcie_generation=_whole(generation, _GENERATION),
        pcie_width=_whole(width, _LANES),
        power_limit_w=_limit(limit),
        default_power_limit_w=_limit(default_limit),
    )


def _number(text: str, most: int) -> float | None:
    number = float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) else None
    return number if number is not None and number <= most else None


def _limit(text: str) -> float | None:
    """Parse a power limit in watts; `None` if unknown or 0, which means no limit."""
    number = _number(text, _WATTS)
    return number if number is not None and number >= 1 else None


def _whole(text: str, most: int) -> int | None:
    number = _number(text, most) if text.isdecimal() else None
    return int(number) if number else None


def main() -> int:
    """Print the PCI addresses of the GPUs that CUDA shows, in CUDA's order."""
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return 1
    count = ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return 1
    for index in range(count.value):
        device, address = ctypes.c_int(), ctypes.create_string_buffer(32)
        if cuda.cuDeviceGet(ctypes.byref(device), index):
            return 1
        if cuda.cuDeviceGetPCIBusId(address, len(address), device):
            return 1
        sys.stdout.write(f"{address.value.decode()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
