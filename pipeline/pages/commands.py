"""Which command measures a cell again? Words that mean nothing to a shell, files by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.pages.cells import Cell


# How the harness reaches the engine that a cell was measured with.
_RUNNERS = {"llama.cpp in-process": "", "llama.cpp server": " --runner llama-server"}
_SERVERS = " --runner openai --base-url URL --spec-base-url URL"


def command_of(cell: Cell) -> str:
    """The line that measures a cell on the reader's machine, with stand-ins for its files."""
    runner = _RUNNERS.get(cell.engine_label, _SERVERS)
    crowd = "" if cell.concurrency == 1 else f" --concurrency {cell.concurrency}"
    draft = f" --draft {_word(cell.draft_label)}.gguf" if cell.draft_label else ""
    depth = "" if cell.depth is None else f":n_max={cell.depth}"
    task = f" --tasks {cell.task_name}" if cell.task_name else ""
    return (
        f"python -m harness run --target {_word(f'{cell.target_label} {cell.quantisation}')}.gguf"
        f"{draft} --method {_word(cell.method)}{depth}{runner}{crowd}{task}"
    )


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-") or "MODEL"
