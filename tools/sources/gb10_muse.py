"""A GB10 measured by djangodevreng (CC BY 4.0): Muse-Glimmer-30B with DFlash, 1 to 20 streams.

The folder is a copy of llama-benchy's tables, one file per test, with the same tests without and
with DFlash. A rate is per stream and is the mean of three runs. In the copy, a prompt's row
precedes its answers.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, Line, compared, described, figure, lines, main

DIGEST = "7a9848fe74c7c99fe7b0657de9ebb448a3d9ccccbd94da4172c8bf9a1bfde501"
PLAIN, DFLASH = "bf16", "bf16-spec"
RATE = "t/s (req)"
TARGET = {"name": "Muse-Glimmer-30B", "quantisation": "BF16", "parameters_b": 30}
_TEST = re.compile(r"(?P<kind>pp|tg)(?P<tokens>\d+)(?: @ d4)? \(c(?P<streams>\d+)\)")


def transcribe(folder: Path) -> Json:
    """Transcribe every cell of the six tests with fixed streams."""
    found = list(lines(folder, "results/muse-glimmer/*/bf16*/0[1-6]-*.md", DIGEST))
    return described(__file__, list(_rows(found)))


def _rows(found: list[Line]) -> Iterator[Json]:
    plain, drafted = (
        [line for line in found if Path(line.path).parent.name == folder]
        for folder in (PLAIN, DFLASH)
    )
    prompt = 0
    for base, spec in zip(plain, drafted, strict=True):
        test = _TEST.fullmatch(base.cells["test"])
        if test is None or base.cells["test"] != spec.cells["test"]:
            raise ValueError(base, spec)
        if test["kind"] == "pp":
            prompt = int(test["tokens"])
            continue
        name = f"{Path(base.path).stem}-pp{prompt}-c{test['streams']}"
        base_rate, _, _ = base.cells[RATE].partition(" ")
        rate, _, spread = spec.cells[RATE].partition(" ± ")
        arm = {
            "id": f"{name}-dflash",
            "place": spec.place(RATE),
            "method": "dflash",
            "n_max": 15,
            "draft": {"name": "Muse-Glimmer-30B-assistant"},
            "figures": [figure("decode_tps", rate)],
            "note": f"Standard deviation: {spread} tok/s.",
        }
        yield from compared(
            name,
            base.place(RATE),
            figure("decode_tps", base_rate),
            [arm],
            rig="gb10",
            engine={"name": "vLLM", "version": "0.26.1rc1.dev608+g99a10304d", "backend": "cuda"},
            target=TARGET,
            settings={
                "context_tokens": 131072,
                "max_output_tokens": int(test["tokens"]),
                "prompt_tokens": prompt,
                "concurrency": int(test["streams"]),
                "protocol": "llama-benchy 0.4.0, mean of 3 runs",
            },
        )


if __name__ == "__main__":
    main(transcribe)
