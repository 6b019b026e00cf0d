"""The options of `fleet run` and `fleet worker`."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import platformdirs

from harness.errors import BadInputError
from harness.options import REQUIRED, option

_DEVICES = "`0` (with any backend), `cuda:0`, `vulkan:1`, `rocm:0` or `cpu`"


def _address(text: str, *, option: str) -> str:
    host, _, port = text.removeprefix("tls://").rpartition(":")
    if not (host and "/" not in host and re.fullmatch("[0-9]{1,5}", port) and int(port) < 2**16):
        raise BadInputError(
            f"--{option} {text}: give an address and a port, such as 192.0.2.7:8786"
        )
    return f"{host}:{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyOptions:
    tls: Path = option(
        "Folder of the fleet's key and certificate. `fleet run` creates them; copy the folder to "
        "the other machines. Default: draftmap/fleet in your user configuration directory.",
        metavar="FOLDER",
        default=Path(platformdirs.user_config_dir("draftmap")) / "fleet",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions(_KeyOptions):
    output: Path = option(
        "Folder for the results.", short="-o", metavar="FOLDER", default=Path("results")
    )
    listen: str = option(
        "Address to listen on.",
        metavar="HOST:PORT",
        parse=partial(_address, option="listen"),
        default="127.0.0.1:8786",
    )
    devices: tuple[str, ...] = option(
        f"A device of this machine to measure on: {_DEVICES}. Can be repeated. Default: every "
        "card, or the CPU if there is no card; no device if other machines can connect.",
        name="device",
        metavar="DEVICE",
        default=(),
    )
    dry_run: bool = option(
        "Print the cells and the expected time for each cell on this machine.", default=False
    )
    json: bool = option("Print the result as JSON.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions(_KeyOptions):
    scheduler: str = option(
        "The scheduler, such as tls://192.0.2.7:8786.",
        metavar="ADDRESS",
        parse=partial(_address, option="scheduler"),
        default=REQUIRED,
    )
    device: str | None = option(
        f"Device to measure on: {_DEVICES}. Default: the device in CUDA_VISIBLE_DEVICES, "
        "otherwise the first device.",
        metavar="DEVICE",
    )
    rig: str | None = option("A name for this machine.", metavar="NAME")
    backends: tuple[str, ...] = option(
        "Backend to offer. Default: chosen by the device's vendor.",
        name="backend",
        metavar="NAME",
        default=(),
    )
