"""Which options of `run` say how the engine is reached?"""

from typing import Annotated

import typer

_HOW = "How it runs"

Runner = Annotated[
    str,
    typer.Option(
        metavar="RUNNER",
        help="`llama-cpp-python` runs it in-process, `fake` makes figures up.",
        rich_help_panel=_HOW,
    ),
]
