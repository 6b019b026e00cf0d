"""Which options of `run` say how the engine is reached?"""

from typing import Annotated

import typer

from harness.runners import RUNNERS

_HOW = "How it runs"

Runner = Annotated[
    str,
    typer.Option(
        metavar="RUNNER",
        help="What runs the models. "
        + " ".join(f"`{name}`: {kind.summary}." for name, kind in RUNNERS.items()),
        rich_help_panel=_HOW,
    ),
]
