"""Print help from a stored file: generating the text would import typer and all options.

`make help-texts` writes the file, and a test compares it with typer's output.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import get_terminal_size

from harness import PROGRAM

FILE = Path(__file__).with_name("help_texts.json")
COLUMNS = 80  # typer's widest text
_HELP = ("--help", "--help-all")


def is_printed(words: Sequence[str]) -> bool:
    """Print the requested help from the stored file; return `False` if typer has to generate it."""
    match list(words):
        case ["help", command]:
            words = [command, "--help"]
        case [*command, "-h"]:
            words = [*command, "--help"]
    # The output must have the stored text's width and encoding; a closed stream is `None`.
    fits = (
        getattr(sys.stdout, "encoding", None) == "utf-8" and get_terminal_size().columns >= COLUMNS
    )
    if not fits or not words or words[-1] not in _HELP:
        return False
    text = json.loads(FILE.read_text("utf-8"))[PROGRAM].get(" ".join(words))
    if text is not None:
        sys.stdout.write(text)
    return text is not None
