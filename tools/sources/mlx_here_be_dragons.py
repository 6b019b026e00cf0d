"""An Apple M5 Pro measured by here-be-dragons-ai (MIT-0): MTP and DFlash2 with mlx-vlm, five tasks.

The folder is a copy of the repository's page, which is in German. One table has a line for each
task, with rates without a draft and with both methods. Another table has estimates for a smaller
machine, which are skipped.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, Line, compared, dense, described, figure, lines, main

DIGEST = "dda81b993b5ff1fe841a6bb25d57c53729afe28bd2d62e344d19abb53002ec74"
TASKS = {"JSON": "json", "Code": "code", "Tool-Call": "tools", "Prosa": "chat"}
LONG = "Langkontext (5,8k)"
BLOCKS = "Blocks of {} tokens."


def transcribe(folder: Path) -> Json:
    """Transcribe the five lines of one table."""
    found = lines(folder, "README.upstream.md", DIGEST)
    return described(
        __file__, [row for line in found if "ohne Drafter" in line.cells for row in _rows(line)]
    )


def _rows(line: Line) -> Iterator[Json]:
    case = line.cells["Fall"]
    name = "long-context" if case == LONG else case.lower()
    arms = [
        {
            "id": f"{name}-mtp",
            "place": line.place("MTP"),
            "method": "mtp",
            "figures": [_rate(line, "MTP")],
            "note": BLOCKS.format(3),
        },
        {
            "id": f"{name}-dflash2",
            "place": line.place("DFlash 2"),
            "method": "dflash2",
            "draft": {"name": "Qwen3.8-27B-DFlash2", "quantisation": "4-bit"},
            "figures": [_rate(line, "DFlash 2")],
            "note": BLOCKS.format(4),
        },
    ]
    yield from compared(
        name,
        line.place("ohne Drafter"),
        _rate(line, "ohne Drafter"),
        arms,
        rig="apple-m5-pro-48gb",
        engine={"name": "mlx-vlm", "backend": "metal"},
        target=dense("Qwen3.8-27B", "4-bit", 27),
        task=TASKS.get(case),
        settings={"temperature": 0, **({"prompt_tokens": 5800} if case == LONG else {})},
    )


def _rate(line: Line, column: str) -> Json:
    return figure("decode_tps", line.cells[column].removesuffix(" t/s").replace(",", "."))


if __name__ == "__main__":
    main(transcribe)
