"""dflash-mlx by bstnxbt (MIT): DFlash on an Apple M5 Max, five targets, four answer lengths.

The folder is a copy of the repository's `benchmark/results`. Each file has three runs, each without
and then with DFlash. The run with the median ratio is taken: the quotient of its rates is the
speedup that the source prints.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, described, documents, figure, main, stated

DIGEST = "b320d354eeb2405fe77015b0c3a669766da44c0c4a31ea9bed6887186e1937f2"
RIG = "apple-m5-max-64gb"
# The block consists of the known token and fifteen drafted tokens.
KNOWN_TOKENS = 1
# This file differs from others of its target in more than the answer length.
ODD = "qwen3-5-27b-4bit-8192"
ODD_NOTE = "A prompt of 92 tokens, where the other lengths of this target had 102."
ONE_PROMPT = "One prompt, a problem of mathematics."


def transcribe(folder: Path) -> Json:
    """Transcribe the median run of every file, with the tokens per round."""
    found = documents(folder, "results/*.json", DIGEST)
    return described(
        __file__, [row for path, report in found.items() for row in _rows(path, report)]
    )


def _rows(path: str, report: Json) -> Iterator[Json]:
    name, config = Path(path).stem, report["config"]
    run = sorted(report["runs"], key=lambda each: each["speedup"])[len(report["runs"]) // 2]
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
            "protocol": f"the run of {config['repeat']} with the median ratio",
        },
    }
    yield stated(
        id=f"baseline-{name}",
        place=f"benchmark/{path}, run {run['run']}, baseline",
        kind="baseline",
        method="none",
        **shared,
        figures=[figure("decode_tps", run["baseline"]["generation_tps"])],
        note=ONE_PROMPT,
    )
    yield stated(
        id=f"dflash-{name}",
        place=f"benchmark/{path}, run {run['run']}, dflash",
        kind="speculation",
        method="dflash",
        draft=_model(config["draft_model"]),
        n_max=config["block_tokens"] - KNOWN_TOKENS,
        baseline_row=f"baseline-{name}",
        **shared,
        figures=[
            figure("decode_tps", run["dflash"]["generation_tps"]),
            figure("speedup", run["speedup"]),
            figure("tokens_per_round", run["dflash"]["tokens_per_cycle"]),
        ],
        note=f"{ONE_PROMPT} {ODD_NOTE}" if name == ODD else ONE_PROMPT,
    )


def _model(reference: str) -> Json:
    """Read a model from its name: `mlx-community/Qwen3.5-27B-4bit` is Qwen3.5-27B as 4-bit."""
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
