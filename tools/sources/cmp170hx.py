"""Two modified CMP 170HX measured by Ciender (Apache-2.0): Qwen3.6-27B with SGLang, 3 MTP steps.

The folder is a copy of the repository's tables: records of the card sold with 10 GB, which now has
40 GB, and the page about the card sold with 8 GB, which now has 64 GB. Memory and clocks were
modified, so each card is a separate device. A rate is 1000 over the mean time per token of one
stream.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.sources.transcription import Json, Line, compared, described, figure, lines, main, stated

RECORDS, RECORDS_DIGEST = (
    "results/serving-expanded-250w.csv",
    "8f0c51606b10232c80fba11ca8e04d3065eb3b40115cb427439eb5492c20f828",
)
PAGE, PAGE_DIGEST = (
    "CMP-170HX-8G.md",
    "5ff3a43e0411273fbc3c776382368a6c3f00fa403f48bd648c1864367297f286",
)
MODEL = {"name": "Qwen3.6-27B", "architecture": "dense", "parameters_b": 27}
# The second card's page states neither the engine's version nor the quantisation.
ENGINES = {"10g": {"version": "0.5.16"}, "8g": {}}
TARGETS = {"10g": MODEL | {"quantisation": "INT8"}, "8g": MODEL}
ALL_ACCEPTED = "The page records 4.00 tokens a round in every cell."
WORKLOADS: dict[str, Json] = {
    "sharegpt": {"task": "chat", "note": "Prompts of ShareGPT."},
    "longbench_v2": {"note": "Prompts of LongBench-v2 of 10954 to 22842 tokens."},
}
RATE = "steady_decode_tok_s"
PROTOCOL = "1000 / mean time of a token"
OFF, ON = "MTP-disabled", "MTP-enabled"


def transcribe(folder: Path) -> Json:
    """Transcribe every cell that ran without and with MTP."""
    return described(
        __file__,
        [
            *_of_records(list(lines(folder, RECORDS, RECORDS_DIGEST))),
            *_of_page(lines(folder, PAGE, PAGE_DIGEST)),
        ],
    )


def _of_records(found: list[Line]) -> Iterator[Json]:
    keys = ("workload", "input_tokens", "output_tokens", "max_concurrency")
    cells = [line for line in found if line.cells.get("steady_decode_tok_s")]
    plain = {
        tuple(line.cells[key] for key in keys): line
        for line in cells
        if line.cells["profile"].startswith("baseline")
    }
    for line in cells:
        key = tuple(line.cells[key] for key in keys)
        if line.cells["profile"].startswith("mtp"):
            workload, prompt, answer, streams = key
            yield from _pair(
                f"10g-{'-'.join(key)}".replace("_", "-"),
                (plain[key].place(RATE), plain[key].cells[RATE]),
                (line.place(RATE), line.cells[RATE]),
                line.cells["accept_length"],
                {
                    "settings": stated(
                        prompt_tokens=int(prompt) if prompt.isdigit() else None,
                        max_output_tokens=int(answer) if answer.isdigit() else None,
                        concurrency=int(streams),
                        prompts=int(line.cells["completed"]),
                        temperature=0,
                        protocol=PROTOCOL,
                    ),
                    **WORKLOADS.get(workload, {}),
                },
            )


def _of_page(found: Iterable[Line]) -> Iterator[Json]:
    for line in found:
        columns = [f"{arm} {word}TPOT (ms)" for word in ("", "mean ") for arm in (OFF, ON)]
        columns = [column for column in columns if column in line.cells]
        if not columns:
            continue
        prompt, answer, *_ = line.cells.values()
        streams = 4 if "four" in line.heading else 1
        off, on = (
            (line.place(column), f"{1000 / float(line.cells[column]):.2f}") for column in columns
        )
        yield from _pair(
            f"8g-{prompt}-{answer}-{streams}",
            off,
            on,
            line.cells["MTP acceptance length"],
            {
                "settings": {
                    "prompt_tokens": int(prompt),
                    "max_output_tokens": int(answer),
                    "concurrency": streams,
                    "prompts": 20 if streams > 1 else 3,
                    "protocol": PROTOCOL,
                },
                "contributor": "9527 vincentdim",
                "note": ALL_ACCEPTED,
            },
        )


def _pair(
    name: str, off: tuple[str, str], on: tuple[str, str], length: str, facts: Json
) -> Iterator[Json]:
    """Yield the rows without and with MTP; `off` and `on` are each a pair (place, rate)."""
    card = name.partition("-")[0]
    arm = {
        "id": f"{name}-mtp",
        "place": on[0],
        "method": "mtp",
        "n_max": 3,
        "figures": [figure("decode_tps", on[1]), figure("tokens_per_round", length)],
    }
    yield from compared(
        name,
        off[0],
        figure("decode_tps", off[1]),
        [arm],
        rig=_rig(card),
        engine={"name": "SGLang", **ENGINES[card], "backend": "cuda"},
        target=TARGETS[card],
        **facts,
    )


def _rig(card: str) -> str:
    return f"cmp-170hx-{card}-modified"


if __name__ == "__main__":
    main(transcribe)
