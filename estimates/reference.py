"""What is known beforehand? Memory bandwidths of devices and digests of suites, read from data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

# What a driver writes around the name of a card; brackets hold the code name of the chip.
_NOISE = re.compile(
    r"\([^)]*\)|[®™]|\b(nvidia|geforce|amd|radeon|intel|graphics|gpu|corporation)\b"
)
_BITS_PER_BYTE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """Memory bandwidth in GB/s by normalised name, what none exceeds, and what a cache may keep.

    A bandwidth is computed from the width of the memory bus and its data rate.
    """

    bandwidth_gb_per_s: Mapping[str, float]
    unknown_device_gb_per_s: float
    cache_mib: int


@cache
def devices() -> Devices:
    """The table of `schemas/devices.json`."""
    table = _read("devices.json")
    return Devices(
        bandwidth_gb_per_s={
            name: device["bus_bits"] / _BITS_PER_BYTE * device["data_rate_gtps"]
            for name, device in table["devices"].items()
        },
        unknown_device_gb_per_s=table["unknown_device_gb_per_s"],
        cache_mib=table["cache_mib"],
    )


@cache
def suites() -> Mapping[str, Mapping[str, str]]:
    """Suite to version to digest, from `schemas/suites.json`."""
    known: Mapping[str, Mapping[str, str]] = _read("suites.json")["suites"]
    return known


def bandwidth_gb_per_s(name: str) -> float | None:
    """The memory bandwidth of a device by its name; `None` if it is not in the table."""
    return devices().bandwidth_gb_per_s.get(normalised(name))


def normalised(name: str) -> str:
    """`NVIDIA GeForce RTX 4090` is `rtx 4090`, `A100-SXM4-80GB` is `a100 sxm4 80gb`."""
    bare = _NOISE.sub(" ", name.lower())
    return re.sub(r"[^a-z0-9.]+", " ", bare).strip()


def _read(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(resources.files("schemas").joinpath(name).read_text("utf-8"))
    return value
