"""An NVIDIA L4 by hanxiao (Apache-2.0): Qwen3.8-27B with llama.cpp, MTP and DFlash2.

The folder is a copy of the repository's page. Its ladder changes one thing a line, so that two
lines are taken: MTP on a stock build, like the plain rate, and DFlash2 on a patched one.
"""

from pathlib import Path

from tools.sources.transcription import Json, compared, document, figure, lines, main

DIGEST = "71b42b30226164bbf6d4d79761e9ebcc5b47a45cd66b413b6bbfb73c050b70eb"
PATCHED = "Another branch of llama.cpp, whose verification uses another kernel; own sampling."


def transcribe(folder: Path) -> Json:
    """The plain rate and two lines of the ladder."""
    found = {line.number: line for line in lines(folder, "README.upstream.md", DIGEST)}
    plain, stock, block = found[74], found[44], found[48]
    rate, column = "Decode (tok/s)", "How it was measured"
    arms = [
        {
            "id": "mtp-2",
            "place": stock.place(rate),
            "method": "mtp",
            "n_max": 2,
            "p_min": 0.4,
            "figures": [figure("decode_tps", stock.cells[rate])],
        },
        {
            "id": "dflash2-7",
            "place": block.place(rate),
            "method": "dflash2",
            "n_max": 7,
            "draft": {"name": "Qwen3.8-27B-DFlash2", "quantisation": "Q4_K_M"},
            "also_differs": [PATCHED],
            "figures": [figure("decode_tps", block.cells[rate])],
        },
    ]
    return document(
        source={
            "id": "l4-hanxiao",
            "title": "Qwen3.8-27B UD-Q4_K_XL on an NVIDIA L4",
            "publisher": "hanxiao",
            "published_on": "2026-08-19",
            "url": "https://github.com/hanxiao/Qwen3.8-27B-UD-Q4_K_XL-L4",
            "author": "hanxiao",
            "licence": "Apache-2.0",
            "commit": "e6c3dec78d587181df2b16e3d78104c70ebc5ca9",
            "taken": "The plain rate, MTP of 2 on a stock build, DFlash2 of 7 on a patched one.",
            "left_out": [
                "Lines that change the kernel, the draft head, the sampling or the weights.",
                "The time of a pass by its width, for which this format has no quantity.",
            ],
            "note": "Means over seven workloads but for the plain rate, of which the workload is "
            "not stated. Not in turns. A card limited to 72 W.",
        },
        rigs=[
            {
                "id": "l4",
                "device": "gpu",
                "gpu": "L4",
                "gpu_vram_mib": 24576,
                "gpu_power_limit_w": 72,
                "os": "linux",
            }
        ],
        rows=compared(
            "ladder",
            plain.place(column),
            figure("decode_tps", plain.cells[column].split()[-2]),
            arms,
            rig="l4",
            engine={"name": "llama.cpp", "backend": "cuda"},
            target={
                "name": "Qwen3.8-27B",
                "architecture": "dense",
                "quantisation": "UD-Q4_K_XL",
                "parameters_b": 27,
            },
        ),
        day="2026-11-26",
    )


if __name__ == "__main__":
    main(transcribe)
