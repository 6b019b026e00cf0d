"""Reads the NVIDIA GPUs and their state from nvidia-smi."""

import csv
import io
import re
from dataclasses import dataclass

from harness.machine.command import output
from schemas.submission import Gpu

# At rest a link falls back to generation 1, so the highest that card and slot agree on is asked
# for; the width does not change at rest.
_CARD = (
    "name,memory.total,driver_version,pcie.link.gen.max,pcie.link.width.current,"
    "power.limit,power.default_limit,display_active"
)
_STATE = "clocks.current.sm,temperature.gpu,power.draw"
# The same bit mask under its newer and its older name.
_REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
_FORMAT = "--format=csv,noheader,nounits"
_IDLE = 0x1
_CUDA_VERSION = re.compile(r"CUDA (?:UMD )?Version\s*:\s*([\d.]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The GPUs in the driver's order, and whether a display runs on any of them."""

    gpus: tuple[Gpu, ...]
    display_active: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Clock, temperature, power and throttling of the first GPU."""

    clock_mhz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttled: bool | None = None


def cards() -> Cards:
    """The NVIDIA GPUs of this machine; none without a working driver."""
    text = output("nvidia-smi", f"--query-gpu={_CARD}", _FORMAT)
    return parse_cards(text, output("nvidia-smi") or "") if text else parse_cards("", "")


def state() -> State:
    """The state of the first NVIDIA GPU; empty without one."""
    for reasons in _REASONS:
        text = output("nvidia-smi", f"--query-gpu={_STATE},{reasons}", _FORMAT)
        if text:
            return parse_state(text)
    return State()


def parse_cards(text: str, banner: str) -> Cards:
    """The cards in the answer to the card query; the CUDA version from the plain answer."""
    cuda = _CUDA_VERSION.search(banner)
    api = f"CUDA {cuda[1]}" if cuda else None
    rows = [row for row in _rows(text) if len(row) == _CARD.count(",") + 1]
    displays = [row[7] for row in rows]
    known = [display for display in displays if display in ("Enabled", "Disabled", "Yes", "No")]
    active = any(display in ("Enabled", "Yes") for display in known)
    return Cards(
        gpus=tuple(_gpu(row, api) for row in rows), display_active=active if known else None
    )


def parse_state(text: str) -> State:
    """The state in the first row of the answer to the state query."""
    rows = _rows(text)
    if not rows or len(rows[0]) != _STATE.count(",") + 2:
        return State()
    clock, temperature, power, reasons = rows[0]
    mask = int(reasons, 16) if re.fullmatch(r"0x[0-9a-fA-F]+", reasons) else None
    return State(
        clock_mhz=_number(clock),
        temperature_c=_number(temperature),
        power_w=_number(power),
        throttled=None if mask is None else bool(mask & ~_IDLE),
    )


def _rows(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text), skipinitialspace=True) if row]


def _gpu(row: list[str], api: str | None) -> Gpu:
    name, memory, driver, generation, width, limit, default_limit, _ = row
    return Gpu(
        name=name,
        vendor="nvidia",
        vram_mib=_whole(memory),
        driver=driver if _known(driver) else None,
        api=api,
        pcie_generation=_whole(generation),
        pcie_width=_whole(width),
        power_limit_w=_number(limit),
        default_power_limit_w=_number(default_limit),
    )


def _known(text: str) -> bool:
    """Unsupported values read `[N/A]`, `[Not Supported]`, `[Unknown Error]` or `N/A`."""
    return bool(text) and not text.startswith("[") and text != "N/A"


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) > 0 else None
