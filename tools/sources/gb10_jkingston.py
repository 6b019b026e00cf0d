"""A GB10 measured by jkingston (MIT): Qwen3.8-27B with vLLM, MTP of 2 and 3 tokens.

The folder is a copy of the repository's page with one table. Its last row uses a different engine
and different weights, and has no counterpart without speculation.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, Line, compared, dense, described, figure, lines, main

DIGEST = "445092b9c1fe386500cb64cad44c99d3a0e737cf0a73821599262a42170d3250"
WEIGHTS = "Unsloth NVFP4"
COLUMNS = {"short": "Short decode", "code": "Coding decode"}


def transcribe(folder: Path) -> Json:
    """Transcribe the rows with the same weights."""
    found = lines(folder, "README.upstream.md", DIGEST)
    rows = {
        line.cells["Speculation"]: line for line in found if line.cells.get("Checkpoint") == WEIGHTS
    }
    return described(__file__, [row for task in COLUMNS for row in _rows(task, rows)])


def _rows(task: str, rows: dict[str, Line]) -> Iterator[Json]:
    column, plain = COLUMNS[task], rows["none"]
    arms = [
        {
            "id": f"{task}-mtp-{depth}",
            "place": rows[f"MTP, width {depth}"].place(column),
            "method": "mtp",
            "n_max": depth,
            "figures": [figure("decode_tps", _rate(rows[f"MTP, width {depth}"], column))],
        }
        for depth in (2, 3)
    ]
    yield from compared(
        task,
        plain.place(column),
        figure("decode_tps", _rate(plain, column)),
        arms,
        rig="gb10",
        engine={"name": "vLLM", "backend": "cuda"},
        target=dense("Qwen3.8-27B", "NVFP4", 27),
        task="code" if task == "code" else None,
        settings={"context_tokens": 131072, "temperature": 0, "protocol": "three runs"},
    )


def _rate(line: Line, column: str) -> str:
    return line.cells[column].removesuffix(" tok/s")


if __name__ == "__main__":
    main(transcribe)
