"""One and two RTX 5060 Ti measured by aicatalyst-team (MIT): MTP with llama.cpp, two targets.

The folder is a copy of the project's records. On one card, four prompts were each run twice,
without and with MTP. For two cards, there is a table with one run per line.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import (
    Json,
    compared,
    dense,
    described,
    documents,
    figure,
    lines,
    main,
    median_figure,
)

RECORDS, RECORDS_DIGEST = (
    "data/results/seed-qwen35*.json",
    "daa683e72cef41e07855f140aee923c0942dfb602457e48f86fe7b5a20e46d01",
)
TABLE, TABLE_DIGEST = (
    "data/community-results.csv",
    "f21b46e6697e4e78cc0a32c3da60b0b6aea19393ffabe7bc4d02df2a6e70c4e2",
)
PLAIN = "data/results/seed-qwen35-9b-nomtp-1x5060ti-20260519.json"
MTP = "data/results/seed-qwen35-9b-mtp-1x5060ti-20260519.json"
TASKS = {"short-chat": "chat", "code-generate": "code", "agent-tool": "tools"}
# Selects lines of the table with equal build, context and answer length.
SAME = {"context_tokens": "8192", "runtime_version": "9190-b64739ea3"}
_ACCEPTED = re.compile(r"acceptance ([0-9.]+)")


def transcribe(folder: Path) -> Json:
    return described(__file__, [*_one_card(folder), *_two_cards(folder)])


def _one_card(folder: Path) -> Iterator[Json]:
    found = documents(folder, RECORDS, RECORDS_DIGEST)
    for prompt in dict.fromkeys(map(_prompt, found[PLAIN]["results"])):
        runs = {
            path: [each for each in found[path]["results"] if _prompt(each) == prompt]
            for path in (PLAIN, MTP)
        }
        rates = {
            path: median_figure(
                "decode_tps", [round(each["metrics"]["decode_tok_s"], 4) for each in some]
            )
            for path, some in runs.items()
        }
        first = runs[MTP][0]
        arm = {
            "id": f"{prompt}-mtp",
            "place": f"{MTP}, {prompt}",
            "method": "mtp",
            "n_max": first["serving"]["speculation"]["draft_n"],
            "figures": [rates[MTP]],
        }
        yield from compared(
            prompt,
            f"{PLAIN}, {prompt}",
            rates[PLAIN],
            [arm],
            rig="rtx-5060-ti",
            engine={"name": "llama.cpp", "backend": "cuda"},
            target=dense("Qwen3.5-9B", "UD-Q4_K_XL", 9),
            task=TASKS.get(prompt),
            settings={
                "context_tokens": first["serving"]["context_tokens"],
                "max_output_tokens": first["benchmark"]["generated_tokens"],
                "prompts": 1,
                "prompt_tokens": first["benchmark"]["actual_prompt_tokens"],
                "kv_type": "q8_0",
                "thinking": False,
            },
        )


def _prompt(run: Json) -> str:
    return str(run["benchmark"]["prompt_set"])


def _two_cards(folder: Path) -> Iterator[Json]:
    found = [
        line
        for line in lines(folder, TABLE, TABLE_DIGEST)
        if line.cells.items() >= SAME.items() and line.cells["quant"] == "GGUF Q6"
    ]
    plain, *drafting = found
    arms = [
        {
            "id": f"two-cards-mtp-{line.cells['mtp_or_spec'][-1]}",
            "place": line.place("decode_tok_s"),
            "method": "mtp",
            "n_max": int(line.cells["mtp_or_spec"][-1]),
            "p_min": 0.75,
            "figures": [
                figure("decode_tps", line.cells["decode_tok_s"]),
                *(
                    figure("acceptance_rate", share)
                    for share in _ACCEPTED.findall(line.cells["notes"])
                ),
            ],
        }
        for line in drafting
    ]
    yield from compared(
        "two-cards",
        plain.place("decode_tok_s"),
        figure("decode_tps", plain.cells["decode_tok_s"]),
        arms,
        rig="2x-rtx-5060-ti",
        engine={"name": "llama.cpp", "commit": "b64739ea3", "backend": "cuda"},
        target=dense("Qwen3.6-27B", "Q6", 27),
        settings={"context_tokens": 8192, "max_output_tokens": 384, "kv_type": "q8_0"},
    )


if __name__ == "__main__":
    main(transcribe)
