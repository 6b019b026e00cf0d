"""dflash-mlx by bstnxbt (MIT): DFlash on an Apple M5 Max, five targets at four lengths of answer.

The folder is a copy of the repository's `benchmark/results`. Each file holds three runs without and
with DFlash, one after the other, and their medians.
"""

import statistics
from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, document, documents, figure, main, stated

DIGEST = "b320d354eeb2405fe77015b0c3a669766da44c0c4a31ea9bed6887186e1937f2"
RIG = "apple-m5-max-64gb"
# The block holds the token that is known and fifteen that are drafted.
KNOWN_TOKENS = 1
# A file that differs from the others of its target in more than the length of the answer.
ODD = "qwen3-5-27b-4bit-8192"
ODD_NOTE = "A prompt of 92 tokens, where the other lengths of this target had 102."
PAIRED = "The speedup is the median of three paired ratios, not the ratio of the two medians."


def transcribe(folder: Path) -> Json:
    """The medians of every file, with the tokens per round."""
    found = documents(folder, "results/*.json", DIGEST)
    return document(
        source={
            "id": "dflash-mlx",
            "title": "dflash-mlx, benchmark results",
            "publisher": "bstnxbt",
            "published_on": "2026-04-18",
            "url": "https://github.com/bstnxbt/dflash-mlx",
            "author": "bstnxbt",
            "licence": "MIT",
            "commit": "f825ffb268e50d531e8b6524413b0847334a14dd",
            "taken": "All 20 files of three paired runs: the medians of both rates and of the "
            "paired ratios, and the tokens of each round.",
            "left_out": [
                "acceptance_ratio, which is accepted over generated tokens, not over drafted ones.",
                "Single runs, times to the first token, peak memory.",
                "The prompt.",
            ],
            "note": "One prompt, a problem of mathematics, so no suite. The baseline is mlx-lm's "
            "own loop, the other arm that of dflash-mlx, with kernels of its own to check a block. "
            "Qwen3.5-4B and 9B are unquantised.",
        },
        rigs=[
            {
                "id": RIG,
                "device": "gpu",
                "gpu": "Apple M5 Max",
                "unified_memory": True,
                "cpu": "Apple M5 Max",
                "ram_gib": 64,
                "os": "macos",
            }
        ],
        rows=[row for path, report in found.items() for row in _rows(path, report)],
        day="2026-11-24",
    )


def _rows(path: str, report: Json) -> Iterator[Json]:
    name, summary, config = Path(path).stem, report["summary"], report["config"]
    shared = {
        "rig": RIG,
        "engine": {
            "name": "MLX",
            "version": report["hardware"]["mlx_version"],
            "backend": "metal",
        },
        "target": _model(config["target_model"]),
        "task": "math",
        "settings": {
            "max_output_tokens": config["max_new_tokens"],
            "prompts": 1,
            "prompt_tokens": config["prompt_tokens"],
            "protocol": f"median of {config['repeat']} runs",
        },
    }
    yield stated(
        id=f"baseline-{name}",
        place=f"benchmark/{path}, baseline",
        kind="baseline",
        method="none",
        **shared,
        figures=[figure("decode_tps", summary["baseline_tps_median"])],
    )
    rounds = statistics.median(run["dflash"]["tokens_per_cycle"] for run in report["runs"])
    yield stated(
        id=f"dflash-{name}",
        place=f"benchmark/{path}, dflash",
        kind="speculation",
        method="dflash",
        draft=_model(config["draft_model"]),
        n_max=config["block_tokens"] - KNOWN_TOKENS,
        baseline_row=f"baseline-{name}",
        **shared,
        figures=[
            figure("decode_tps", summary["dflash_tps_median"]),
            figure("speedup", summary["speedup_median"]),
            figure("tokens_per_round", rounds),
        ],
        note=f"{ODD_NOTE} {PAIRED}" if name == ODD else PAIRED,
    )


def _model(reference: str) -> Json:
    """`mlx-community/Qwen3.5-27B-4bit` is Qwen3.5-27B as 4-bit."""
    owner, _, name = reference.partition("/")
    model, quantised, _ = name.partition("-4bit")
    size = model.removesuffix("-DFlash").split("-")[1]
    mixture = "A3B" in model
    return stated(
        name=model,
        architecture=None if owner == "z-lab" else "moe" if mixture else "dense",
        quantisation=None if owner == "z-lab" else "4-bit" if quantised else "BF16",
        parameters_b=None if owner == "z-lab" else float(size.removesuffix("B")),
        active_parameters_b=3.0 if mixture and owner != "z-lab" else None,
    )


if __name__ == "__main__":
    main(transcribe)
