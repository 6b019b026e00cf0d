"""An RTX 5090 measured by Murai Labs (MIT): MTP of 3 tokens (vLLM), three prompts, 1 and 4 streams.

The folder is a copy of the records of both arms, without the figures of other people that the
repository reprints.
"""

from pathlib import Path

from tools.sources.transcription import Json, compared, dense, described, documents, figure, main

DIGEST = "27f8c269ff82d67c537bf36430cbdcd89bf00afe7dc2a7c815d78459554ff1d0"
PLAIN, MTP = "bench/results/armA.json", "bench/results/armC.json"


def transcribe(folder: Path) -> Json:
    """Transcribe the six cells of both arms."""
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
            target=dense("Qwen3.8-27B", "NVFP4", 27),
            settings={
                "prompt_tokens": prompt,
                "max_output_tokens": base["max_tokens"],
                "concurrency": streams,
                "protocol": "median of 3",
            },
        )
    return described(__file__, rows)


if __name__ == "__main__":
    main(transcribe)
