"""An Arc Pro B70 measured by SergiioB (MIT): MTP with vLLM's XPU build, two fine-tuned targets.

The folder is a copy of the repository's results. Two of its files are used, one for each target.
Both have the same coordinates (length of prompt and answer) without and with MTP. Rates are medians
of five requests: tokens after the first over the time after the first.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import (
    Json,
    compared,
    dense,
    described,
    documents,
    figure,
    main,
    percentage,
    stated,
)

DIGEST = "59d793265677162ecabfe0c53414275e76bb29ca54c84c1e2f0cc008b547f17e"
MIXTURE = "results/prefill-decode-matrix-20260809-summary.json"
DENSE = "results/qwen36-27/prefill-decode-matrix-20260809-dense27-summary.json"
TARGETS: dict[str, Json] = {
    MIXTURE: {
        "name": "Qwen3.6-35B-A3B-uncensored-heretic",
        "architecture": "moe",
        "quantisation": "GPTQ-Int4",
        "parameters_b": 35,
        "active_parameters_b": 3,
    },
    DENSE: dense("Qwen3.6-27B-uncensored-heretic-v2", "GPTQ-Int4", 27),
}
PLAIN = "no-spec"
ONCE = "One request at this length; five at the others."


def transcribe(folder: Path) -> Json:
    """Transcribe every coordinate that was measured without and with MTP."""
    found = documents(folder, "results/**/*matrix-20260809*summary.json", DIGEST)
    return described(__file__, [row for path in TARGETS for row in _rows(path, found[path])])


def _rows(path: str, report: Json) -> Iterator[Json]:
    name = "mixture" if path == MIXTURE else "dense"
    cells = {(row["coordinate"], row["mode"]): row for row in report["rows"]}
    for (coordinate, mode), plain in cells.items():
        if mode != PLAIN or not coordinate.startswith("decode"):
            continue
        prompt, answer = (int(word[1:]) for word in coordinate.split("-")[-2:])
        drafting = [cells[coordinate, f"mtp{depth}"] for depth in (1, 2, 4)]
        yield from compared(
            f"{name}-{coordinate}",
            f"{path}, {PLAIN}, {coordinate}",
            figure("decode_tps", plain["client_post_first_tps"]["median"]),
            [_arm(f"{name}-{coordinate}", path, row) for row in drafting],
            rig=f"arc-pro-b70-{report['configured_power_cap_W']}w",
            engine={"name": "vLLM", "version": report["stack"]["vllm"], "backend": "sycl"},
            target=TARGETS[path],
            settings=stated(
                context_tokens=report["max_model_len"],
                max_output_tokens=answer,
                prompt_tokens=prompt,
                concurrency=1,
                kv_type=report["stack"].get("kv_cache_dtype"),
                protocol=f"median of {plain['samples']} requests, seen by the client",
            ),
            note=ONCE if plain["samples"] == 1 else None,
        )


def _arm(name: str, path: str, row: Json) -> Json:
    return {
        "id": f"{name}-{row['mode']}",
        "place": f"{path}, {row['mode']}, {row['coordinate']}",
        "method": "mtp",
        "n_max": int(row["mode"].removeprefix("mtp")),
        "figures": [
            figure("decode_tps", row["client_post_first_tps"]["median"]),
            percentage("acceptance_rate", row["mtp_acceptance_pct"]),
        ],
    }


if __name__ == "__main__":
    main(transcribe)
