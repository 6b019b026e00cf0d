"""An NVIDIA L4 measured by hanxiao (Apache-2.0): Qwen3.8-27B with llama.cpp, MTP and DFlash2.

The folder is a copy of the repository's page. Each line of its table changes one setting. Two lines
are taken: MTP on the stock build that also gave the plain rate, and DFlash2 on a patched build.
"""

from pathlib import Path

from tools.sources.transcription import Json, compared, dense, described, figure, lines, main

DIGEST = "71b42b30226164bbf6d4d79761e9ebcc5b47a45cd66b413b6bbfb73c050b70eb"
PATCHED = "Another branch of llama.cpp, whose verification uses another kernel; own sampling."


def transcribe(folder: Path) -> Json:
    """Transcribe the plain rate and two lines of the table."""
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
    return described(
        __file__,
        compared(
            "ladder",
            plain.place(column),
            figure("decode_tps", plain.cells[column].split()[-2]),
            arms,
            rig="l4",
            engine={"name": "llama.cpp", "backend": "cuda"},
            target=dense("Qwen3.8-27B", "UD-Q4_K_XL", 27),
        ),
    )


if __name__ == "__main__":
    main(transcribe)
