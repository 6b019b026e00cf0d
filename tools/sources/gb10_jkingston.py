"""A GB10 by jkingston (MIT): Qwen3.8-27B with vLLM, MTP of 2 and 3 tokens.

The folder is a copy of the repository's page with one table. Its last row has another engine and
another file of weights, and no counterpart without speculation.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.gb10_muse import GB10
from tools.sources.transcription import Json, Line, compared, document, figure, lines, main

DIGEST = "445092b9c1fe386500cb64cad44c99d3a0e737cf0a73821599262a42170d3250"
WEIGHTS = "Unsloth NVFP4"
COLUMNS = {"short": "Short decode", "code": "Coding decode"}


def transcribe(folder: Path) -> Json:
    """The rows of one file of weights."""
    found = lines(folder, "README.upstream.md", DIGEST)
    rows = {
        line.cells["Speculation"]: line for line in found if line.cells.get("Checkpoint") == WEIGHTS
    }
    return document(
        source={
            "id": "gb10-jkingston",
            "title": "Qwen3.8-27B on DGX Spark",
            "publisher": "jkingston",
            "published_on": "2026-08-16",
            "url": "https://github.com/jkingston/qwen3.8-27b-dgx-spark",
            "author": "jkingston",
            "licence": "MIT",
            "commit": "0fa1c63c65c607513bad56d936e54f3ea6a22004",
            "taken": "Three rows of vLLM with one file of weights, two kinds of prompts each.",
            "left_out": [
                "DSpark with SGLang, from other weights and without a counterpart.",
                "BF16 and FP8, which have no arm with speculation; prefill.",
            ],
            "note": "Three runs a row on a table without records, at temperature 0. Others saw "
            "servers of this machine differ by up to 15 % from one start to the next.",
        },
        rigs=[GB10],
        rows=[row for task in COLUMNS for row in _rows(task, rows)],
        day="2026-11-26",
    )


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
        target={
            "name": "Qwen3.8-27B",
            "architecture": "dense",
            "quantisation": "NVFP4",
            "parameters_b": 27,
        },
        task="code" if task == "code" else None,
        settings={"context_tokens": 131072, "temperature": 0, "protocol": "three runs"},
    )


def _rate(line: Line, column: str) -> str:
    return line.cells[column].removesuffix(" tok/s")


if __name__ == "__main__":
    main(transcribe)
