"""lucebox by Luce-Org (Apache-2.0): DFlash with trees in an engine of their own, on four cards.

The folder is a copy of the project's page of results. The tables that head its sections have a set
of ten prompts a line, with the mean rates of the target alone and with the draft, and the tokens of
a round. A tree of 22 to 40 tokens is checked at once, which says nothing of its depth.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, Line, compared, document, figure, lines, main

DIGEST = "34540eb8f297eeaca5d8432c0188c9607bbc30053a5247583cdc058fdc2cbfff"
TASKS = {"HumanEval": "code", "GSM8K": "math", "Math500": "math"}
TIMES = "*\N{MULTIPLICATION SIGN}"
QWEN35 = {"name": "Qwen3.5-27B", "architecture": "dense", "quantisation": "Q4_K_M"}
QWEN35 |= {"parameters_b": 27}
QWEN36 = QWEN35 | {"name": "Qwen3.6-27B"}
DRAFT35, DRAFT36 = {"name": "Qwen3.5-27B-DFlash"}, {"name": "Qwen3.6-27B-DFlash"}
# Words in the heading of a table, and the facts of its section.
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
RIGS: dict[str, Json] = {
    "rtx-3090": {"gpu": "RTX 3090", "gpu_vram_mib": 24576, "gpu_driver": "535"},
    "rtx-2080-ti-22gb": {"gpu": "RTX 2080 Ti", "gpu_vram_mib": 22528},
    "rtx-5090": {"gpu": "RTX 5090", "gpu_vram_mib": 32768, "gpu_driver": "595.58.03"},
    "rtx-5090-windows": {"gpu": "RTX 5090", "gpu_vram_mib": 32768, "os": "windows"},
    "rtx-4090-wsl": {
        "gpu": "RTX 4090",
        "gpu_vram_mib": 24576,
        "gpu_driver": "596.21",
        "note": "Linux inside Windows 11.",
    },
}
# Its mean counts two empty answers as no speed.
SPOILED = "Qwen3.6-27B Q4_K_M"


def transcribe(folder: Path) -> Json:
    """The lines of the tables with both rates and their ratio."""
    return document(
        source={
            "id": "lucebox",
            "title": "lucebox, Luce DFlash benchmark results",
            "publisher": "Luce-Org",
            "published_on": "2026-05-31",
            "url": "https://github.com/Luce-Org/lucebox-hub",
            "author": "Luce-Org and contributors",
            "licence": "Apache-2.0",
            "commit": "8305b6c2b10b303e71383bd9777a9664370976c0",
            "taken": "Means over ten prompts of up to three sets in five configurations, without "
            "and with the draft, and the tokens of a round.",
            "left_out": [
                "The 120 single prompts of which twelve of these are the means.",
                "Sweeps of the size of the tree, Laguna.",
                "Qwen3.6-27B on the RTX 4090: its mean counts two empty answers as 0 tokens/s.",
                "The context of 128K tokens, where the longest row is an estimate.",
            ],
            "note": "By the engine's authors, two sections by contributors. One greedy run a "
            "prompt; the target alone is a program of its own, run before. Sections have dates, "
            "weights and drivers of their own.",
        },
        rigs=[{"id": name, "device": "gpu", **facts} for name, facts in RIGS.items()],
        rows=[
            row
            for line in lines(folder, "server/RESULTS.md", DIGEST)
            if {"Task", "AR tok/s", "Speedup"} <= line.cells.keys() and SPOILED not in line.heading
            for row in _rows(line)
        ],
        day="2026-11-26",
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
