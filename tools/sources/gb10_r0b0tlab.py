"""A GB10 measured by r0b0tlab (MIT): Qwen3.8-27B with vLLM, MTP of 3 tokens and DSpark of 7.

The folder is a copy of the repository's summaries. One summary has a single request without
speculation and with both methods; concurrent requests have no baseline.
"""

from pathlib import Path

from tools.sources.transcription import Json, compared, dense, described, documents, figure, main

DIGEST = "67be8df0e8bff40cc1014f69ae345b313a1a48c1e11db7bcaf809e7c3a22ae9a"
FILE = "dspark-perf.json"


def transcribe(folder: Path) -> Json:
    """Transcribe the single request."""
    report = documents(folder, FILE, DIGEST)[FILE]
    alone = report["comparison_vs_mtp_k3"]["dedicated-c1"]
    arms = [
        {
            "id": "dedicated-mtp",
            "place": f"{FILE}, dedicated-c1, mtp_k3",
            "method": "mtp",
            "n_max": 3,
            "figures": [figure("decode_tps", alone["mtp_k3"])],
        },
        {
            "id": "dedicated-dspark",
            "place": f"{FILE}, dedicated-c1, dspark_k7",
            "method": "other",
            "n_max": 7,
            "draft": {"name": "Qwen3.8-27B-DSpark"},
            "figures": [
                figure("decode_tps", alone["dspark_k7"]),
                figure("speedup", report["dspark_speedup_vs_ar_c1"]),
            ],
            "note": "DSpark with a configuration adapted to vLLM.",
        },
    ]
    return described(
        __file__,
        compared(
            "dedicated",
            f"{FILE}, ar_baseline_c1",
            figure("decode_tps", report["ar_baseline_c1"]),
            arms,
            rig="gb10",
            engine={"name": "vLLM", "version": "0.27.2rc0-sm121", "backend": "cuda"},
            target=dense("Qwen3.8-27B", "NVFP4", 27),
            settings={"max_output_tokens": 2048, "concurrency": 1, "kv_type": "fp8"},
        ),
    )


if __name__ == "__main__":
    main(transcribe)
