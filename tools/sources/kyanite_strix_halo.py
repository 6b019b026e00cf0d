"""A 64 GB Strix Halo measured by KyaniteLabs (MIT): MTP and n-grams with llama.cpp, one large loss.

The folder is a copy of llama-server logs, one per arm, with the same prompts in the same order.
Rates are from the line `eval time`. The second to fifth requests are taken: the first is a warm-up,
and the later requests ask the model to count, which is pure repetition.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, checked, compared, dense, described, figure, main

DIGEST = "da52a93223432aa8e63e99fe1d978f2845f6e465a4fac4e410edc96ff41178cb"
DENSE, MIXTURE = "results/config-27b-2026-08-21/", "results/ornith-35b-2026-08-21/"
BOTH = {"method": "other", "note": "MTP and n-grams (ngram-mod) together, up to 12 tokens."}
# For each target: its plain log, and the logs of the arms.
RUNS: tuple[tuple[str, Json, str, dict[str, Json]], ...] = (
    (
        "27b",
        dense("Qwen3.8-27B", "UD-Q4_K_XL", 27),
        f"{DENSE}spec-sweep-server-off.log",
        {
            f"{DENSE}spec-sweep-server-mtp.log": {"method": "mtp", "n_max": 12},
            f"{DENSE}spec-sweep-server-ngram.log": {
                "method": "other",
                "note": "N-grams (ngram-mod), up to 12 tokens.",
            },
            f"{DENSE}spec-sweep-server-mirror.log": BOTH,
        },
    ),
    (
        "ornith",
        {
            "name": "Ornith-1.5-35B-A3B",
            "architecture": "moe",
            "quantisation": "Q4_K_M",
            "parameters_b": 35,
            "active_parameters_b": 3,
        },
        f"{MIXTURE}ornith-window-server-B.log",
        {f"{MIXTURE}ornith-window-server-A.log": BOTH},
    ),
)
# The requests after the warm-up; the source does not state the first request's task.
PROMPTS = ((None, 128), ("chat", 200), ("chat", 200), ("chat", 200))
_RATE = re.compile(r" eval time = .*?, +([0-9.]+) tokens per second")
_SHARE = re.compile(r"draft acceptance = ([0-9.]+)")


def transcribe(folder: Path) -> Json:
    """Transcribe the requests of both targets, without and with each method."""
    found = checked(folder, "results/*-2026-08-21/*-server-*.log", DIGEST)
    logs = {path: held.decode().splitlines() for path, held in found.items()}
    return described(__file__, [row for run in RUNS for row in _rows(logs, *run)])


def _rows(
    logs: dict[str, list[str]], name: str, target: Json, plain: str, arms: Json
) -> Iterator[Json]:
    for number, (task, limit) in enumerate(PROMPTS, start=1):
        place, base = _request(logs, plain, number)
        rows = []
        for path, facts in arms.items():
            where, figures = _request(logs, path, number)
            arm = path.removesuffix(".log").rpartition("-")[2].lower()
            rows.append(
                {"id": f"{name}-{number}-{arm}", "place": where, "figures": figures, **facts}
            )
        yield from compared(
            f"{name}-{number}",
            place,
            base[0],
            rows,
            rig="radeon-8060s-64gb",
            engine={"name": "llama.cpp", "backend": "rocm"},
            target=target,
            task=task,
            settings={
                "context_tokens": 131072,
                "max_output_tokens": limit,
                "prompts": 1,
                "kv_type": "q4_0",
            },
        )


def _request(logs: dict[str, list[str]], path: str, number: int) -> tuple[str, list[Json]]:
    """Return a request's place in a log, and its rate and, if it drafted, its acceptance."""
    texts = logs[path]
    rates = [(at, match) for at, text in enumerate(texts) if (match := _RATE.search(text))]
    rates = [(at, match) for at, match in rates if "prompt eval" not in texts[at]]
    at, rate = rates[number]
    end = rates[number + 1][0] if number + 1 < len(rates) else len(texts)
    shares = [match[1] for text in texts[at:end] if (match := _SHARE.search(text))]
    figures = [figure("decode_tps", rate[1])]
    figures += [figure("acceptance_rate", share) for share in shares[:1]]
    return f"{path}, line {at + 1}", figures


if __name__ == "__main__":
    main(transcribe)
