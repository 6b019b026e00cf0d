"""Which options of `run` say how the engine is reached?"""

from typing import Annotated

import typer

from harness.runners import OFFERED

_HOW = "How it runs"

Runner = Annotated[
    str,
    typer.Option(
        metavar="RUNNER",
        help="What runs the models. "
        + " ".join(f"`{name}`: {kind.summary}." for name, kind in OFFERED.items()),
        rich_help_panel=_HOW,
    ),
]
ServerBinary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="The llama-server to start, for --runner llama-server. Repeat it with names to "
        "compare builds or backends: `cuda=PATH`, `vulkan=PATH`. Default: the one on PATH.",
        rich_help_panel=_HOW,
    ),
]
