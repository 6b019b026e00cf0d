"""An RTX 5090 by Murai Labs (MIT): MTP of 3 tokens with vLLM, three prompts, 1 and 4 streams.

The folder is a copy of the records of both arms. Figures of others that the repository reprints
are not in it.
"""

from pathlib import Path

from tools.sources.transcription import Json, compared, document, documents, figure, main

DIGEST = "27f8c269ff82d67c537bf36430cbdcd89bf00afe7dc2a7c815d78459554ff1d0"
PLAIN, MTP = "bench/results/armA.json", "bench/results/armC.json"


def transcribe(folder: Path) -> Json:
    """The six cells of both arms."""
    found = documents(folder, "bench/results/*.json", DIGEST)
    rows: list[Json] = []
    for base, spec in zip(found[PLAIN], found[MTP], strict=True):
        prompt, streams = base["prompt_tokens"], base["concurrency"]
        if (prompt, streams) != (spec["prompt_tokens"], spec["concurrency"]):
            raise ValueError(prompt, streams)
        name = f"p{prompt}-c{streams}"
        arm = {
            "id": f"{name}-mtp",
            "place": f"{MTP}, {prompt}, {streams}",
            "method": "mtp",
            "n_max": 3,
            "figures": [figure("decode_tps", spec["decode_tok_s"])],
        }
        rows += compared(
            name,
            f"{PLAIN}, {prompt}, {streams}",
            figure("decode_tps", base["decode_tok_s"]),
            [arm],
            rig="rtx-5090-wsl",
            engine={"name": "vLLM", "version": "0.27.1", "backend": "cuda"},
            target={
                "name": "Qwen3.8-27B",
                "architecture": "dense",
                "quantisation": "NVFP4",
                "parameters_b": 27,
            },
            settings={
                "prompt_tokens": prompt,
                "max_output_tokens": base["max_tokens"],
                "concurrency": streams,
                "protocol": "median of 3",
            },
        )
    return document(
        source={
            "id": "murai-5090",
            "title": "Qwen3.8-27B on a single RTX 5090",
            "publisher": "Murai Labs",
            "published_on": "2026-08-15",
            "url": "https://github.com/Murai-Labs/qwen3.8-27b-rtx5090",
            "author": "Murai Labs",
            "licence": "MIT",
            "commit": "bb63b7921a413ec47c651633c02a2139d88c323a",
            "taken": "Six cells without and with MTP: rates of one stream.",
            "left_out": ["Sums over the streams, times to the first token, prefill, a third arm."],
            "note": "Linux inside Windows, synthetic prompts, 200 tokens. The arms are servers one "
            "after the other.",
        },
        rigs=[
            {
                "id": "rtx-5090-wsl",
                "device": "gpu",
                "gpu": "RTX 5090",
                "gpu_vram_mib": 32768,
                "note": "Linux inside Windows.",
            }
        ],
        rows=rows,
        day="2026-11-26",
    )


if __name__ == "__main__":
    main(transcribe)
