"""The options of `fleet run` and `fleet worker`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import platformdirs

from harness.options import Option

_DEVICES = "`0` (of all kinds), `cuda:0`, `vulkan:1`, `rocm:0` or `cpu`"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOptions:
    """How scheduler and workers trust each other."""

    tls: Annotated[
        Path,
        Option(
            "Folder of the fleet's key and certificate. `fleet run` makes them; copy the folder to "
            "the other machines.",
            metavar="FOLDER",
        ),
    ] = Path(platformdirs.user_config_dir("draftmap")) / "fleet"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions(KeyOptions):
    """Where workers are, and where the results go."""

    output: Annotated[Path, Option("Folder for the results.", short="-o")] = Path("results")
    listen: Annotated[str, Option("Where the scheduler listens.")] = "127.0.0.1:8786"
    devices: Annotated[
        tuple[str, ...],
        Option(
            f"Also start a worker for this device of this machine: {_DEVICES}. Can be repeated.",
            name="device",
            metavar="DEVICE",
        ),
    ] = ()
    dry_run: Annotated[bool, Option("Print the cells and how long each takes here.")] = False
    json: Annotated[bool, Option("Print the result as JSON.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions(KeyOptions):
    """Which device a worker owns, and for which scheduler it works."""

    scheduler: Annotated[
        str, Option("The scheduler, such as tls://192.0.2.7:8786.", metavar="ADDRESS")
    ]
    device: Annotated[
        str | None,
        Option(
            f"The device that it owns: {_DEVICES}. Default: what CUDA_VISIBLE_DEVICES names, else "
            "the first.",
            metavar="DEVICE",
        ),
    ] = None
    rig: Annotated[str | None, Option("A name for this machine.", metavar="NAME")] = None
    backends: Annotated[
        tuple[str, ...],
        Option("What it offers. Default: by the device's maker.", name="backend", metavar="NAME"),
    ] = ()
