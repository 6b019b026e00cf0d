"""lucebox by Luce-Org (Apache-2.0): DFlash with trees in its own engine, on four cards.

The folder is a copy of the project's page of results. The first table of each section has one line
per set of ten prompts, with the mean rates of the target alone and with the draft, and the tokens
per round. A tree of 22 to 40 tokens is verified in one step; its depth is not stated.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, Line, compared, dense, described, figure, lines, main

DIGEST = "34540eb8f297eeaca5d8432c0188c9607bbc30053a5247583cdc058fdc2cbfff"
TASKS = {"HumanEval": "code", "GSM8K": "math", "Math500": "math"}
TIMES = "*\N{MULTIPLICATION SIGN}"
QWEN35 = dense("Qwen3.5-27B", "Q4_K_M", 27)
QWEN36 = QWEN35 | {"name": "Qwen3.6-27B"}
DRAFT35, DRAFT36 = {"name": "Qwen3.5-27B-DFlash"}, {"name": "Qwen3.6-27B-DFlash"}
# Words in the heading of a table, and facts about its section.
SECTIONS: dict[str, Json] = {
    "RTX 5090 Q4_K_M": {
        "rig": "rtx-5090-windows",
        "target": QWEN36,
        "draft": DRAFT36,
        "budget": 40,
        "limits": {"Math500": 2048},
        "settings": {"thinking": False},
    },
    "RTX 5090": {
        "rig": "rtx-5090",
        "target": QWEN36 | {"quantisation": "UD-Q5_K_XL"},
        "draft": DRAFT36,
        "budget": 22,
        "settings": {"kv_type": "f16"},
    },
    "RTX 2080 Ti": {"rig": "rtx-2080-ti-22gb", "target": QWEN35, "draft": DRAFT35, "budget": 22},
    "RTX 4090": {
        "rig": "rtx-4090-wsl",
        "target": QWEN35,
        "draft": DRAFT35 | {"quantisation": "Q4_K_M"},
        "budget": 28,
    },
    "": {
        "rig": "rtx-3090",
        "target": QWEN35,
        "draft": DRAFT35 | {"quantisation": "BF16"},
        "budget": 22,
    },
}
# The mean of this set includes two empty answers as zero.
SPOILED = "Qwen3.6-27B Q4_K_M"


def transcribe(folder: Path) -> Json:
    """Transcribe the lines that have both rates and their ratio."""
    return described(
        __file__,
        [
            row
            for line in lines(folder, "server/RESULTS.md", DIGEST)
            if {"Task", "AR tok/s", "Speedup"} <= line.cells.keys() and SPOILED not in line.heading
            for row in _rows(line)
        ],
    )


def _rows(line: Line) -> Iterator[Json]:
    section = next(facts for words, facts in SECTIONS.items() if words in line.heading)
    data, off, on = line.cells["Task"], "AR tok/s", "DFlash tok/s"
    name = f"{section['rig']}-{data}".lower()
    arm = {
        "id": f"{name}-dflash",
        "place": line.place(on),
        "method": "dflash",
        "draft": section["draft"],
        "figures": [
            figure("decode_tps", line.cells[on]),
            figure("speedup", line.cells["Speedup"].strip(TIMES)),
            figure("tokens_per_round", line.cells["AL"]),
        ],
    }
    yield from compared(
        name,
        line.place(off),
        figure("decode_tps", line.cells[off]),
        [arm],
        rig=section["rig"],
        engine={"name": "lucebox", "backend": "cuda"},
        target=section["target"],
        task=TASKS[data],
        settings={
            "prompts": 10,
            "max_output_tokens": section.get("limits", {}).get(data, 256),
            "temperature": 0,
            "concurrency": 1,
            **section.get("settings", {}),
        },
        note=f"{data}. The draft's tokens form a tree of {section['budget']}.",
    )


if __name__ == "__main__":
    main(transcribe)
