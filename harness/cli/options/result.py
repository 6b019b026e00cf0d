"""Which options of `run` say what becomes of the result?"""

from pathlib import Path
from typing import Annotated

import typer

_OUT = "Result"

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="PATH",
        help="Where the result goes: a file (NAME.json), or a directory, where it gets its "
        "canonical name. Default: here.",
        rich_help_panel=_OUT,
    ),
]
Contributor = Annotated[
    str | None,
    typer.Option(
        metavar="HANDLE",
        help="Your handle on the code host, if you want it in the file.",
        rich_help_panel=_OUT,
    ),
]
Notes = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="One line about the machine: cooling, undervolting.",
        rich_help_panel=_OUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the result for machines.", rich_help_panel=_OUT),
]
