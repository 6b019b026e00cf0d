"""Which options of `run` say how it runs? Placement, context, the plan and its end."""

from typing import Annotated

import typer

_HOW = "How it runs"

Context = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=64, help="Context in tokens. Default: 2048.", rich_help_panel=_HOW
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Threads. Default: the engine's choice.", rich_help_panel=_HOW
    ),
]
GpuLayers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=-1,
        help="Layers of the target on the GPU (-1: all). Default: all.",
        rich_help_panel=_HOW,
    ),
]
DraftGpuLayers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=-1,
        help="Layers of the draft on the GPU (-1: all). Default: all.",
        rich_help_panel=_HOW,
    ),
]
BaselineGpuLayers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=-1,
        help="Also measure the target alone with so many layers on the GPU (-1: all): what "
        "the draft's memory could do instead. Default: not measured.",
        rich_help_panel=_HOW,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        max=2**32 - 1,
        help="Seed of the plan's shuffle.",
        rich_help_panel=_HOW,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on with an interrupted run; give the same options again.",
        rich_help_panel=_HOW,
    ),
]
PlanOnly = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the plan and how long it takes.", rich_help_panel=_HOW),
]
