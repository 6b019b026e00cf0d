"""What a person may choose about a fleet, each choice with its option and help text."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from harness.options import Option

_DEVICES = "`0` (of all kinds), `cuda:0`, `vulkan:1`, `rocm:0` or `cpu`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """How scheduler and workers trust each other."""

    tls: Annotated[
        Path | None,
        Option(
            "The fleet's key and certificate. `fleet run` makes them where there are none; copy "
            "the folder to the other machines. Default: a folder of your configuration.",
            metavar="FOLDER",
        ),
    ] = None
    no_tls: Annotated[bool, Option("Plain connections; within this machine only.")] = False

    def keys(self) -> Path:
        """The folder of the key."""
        from harness.fleet.network import default_keys  # noqa: PLC0415 - an optional package

        return self.tls or default_keys()

    def arguments(self) -> list[str]:
        """The same for a worker of this machine."""
        return ["--no-tls"] if self.no_tls else ["--tls", str(self.keys())]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions:
    """Where workers are, and where the results go."""

    output: Annotated[Path, Option("Where the results go.", short="-o", metavar="FOLDER")] = Path(
        "results"
    )
    listen: Annotated[
        str, Option("Where the scheduler listens for workers.", metavar="ADDRESS")
    ] = "127.0.0.1:8786"
    devices: Annotated[
        tuple[str, ...],
        Option(
            f"Also start a worker for this device of this machine: {_DEVICES}. Repeat it for "
            "several.",
            name="device",
            metavar="DEVICE",
        ),
    ] = ()
    dry_run: Annotated[bool, Option("Print who measures what and how long it takes.")] = False
    json: Annotated[bool, Option("Print the result as JSON.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """What a worker is."""

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
    rig: Annotated[
        str | None,
        Option("What this machine is called in the fleet; it is in no result.", metavar="NAME"),
    ] = None
    backends: Annotated[
        tuple[str, ...],
        Option(
            "A backend that it offers. Default: those of the device's maker.",
            name="backend",
            metavar="BACKEND",
        ),
    ] = ()
    patience_s: Annotated[
        float,
        Option(
            "How long it waits for a scheduler that is gone.",
            name="patience",
            metavar="SECONDS",
            least=1,
        ),
    ] = 600.0
