"""qwen38_alis_mlx by avlp12 (MIT): MTP and DSpark with Qwen3.8-27B on an Apple M3 Ultra.

The folder is a copy of `results/spec_restate` and `results/exp6_rollback`. A cell `ARM|PROMPT` has
the repeats of one arm on one prompt. An arm is compared with the plain arm of the same file at the
same temperature. The author retracted the figures from before 2026-08-16; the figures used here are
later.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.sources.transcription import (
    Json,
    dense,
    described,
    documents,
    main,
    median_figure,
    stated,
)

DIGEST = "0d1220c9f28b4327530dc57f43739af7af8c4002c61d90b6d405e7456c860f1e"
RIG = "apple-m3-ultra-512gb"
# A setting in several files is taken from the first file. Files with most repeats come first.
FILES = (
    *("spec_restate/samp_240", "spec_restate/samp_1024"),
    *("spec_restate/gate_240", "spec_restate/gate_1024"),
    *("spec_restate/sweep_1024", "spec_restate/bench_d_q8v"),
    *("exp6_rollback/t1_240", "exp6_rollback/t1_1024", "exp6_rollback/greedy"),
    "spec_restate/greedy_regress",
)
TASKS = {"chat": "chat", "code": "code", "math": "math", "ko": "chat"}
KOREAN = "The prompt is in Korean."


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceArm:
    """The settings that an arm's name stands for; `words` become the note in the arm's rows."""

    temperature: float = 0.0
    method: str = "none"
    n_max: int | None = None
    p_min: float | None = None
    words: str | None = None


def _mtp(
    n_max: int, temperature: float = 0.0, p_min: float | None = None, words: str | None = None
) -> SourceArm:
    return SourceArm(method="mtp", n_max=n_max, temperature=temperature, p_min=p_min, words=words)


def _dspark(temperature: float = 0.0, words: str = "DSpark, blocks of 8.") -> SourceArm:
    return SourceArm(method="other", temperature=temperature, words=words)


COOLER = "Drafted at temperature 0.6."
RERUN = "DSpark, blocks of 8, the accepted part computed again after a rejection."
ARMS = {
    **dict.fromkeys(("plain_t0", "plain_g"), SourceArm()),
    "plain_t06": SourceArm(temperature=0.6),
    "plain_t1": SourceArm(temperature=1.0),
    **{f"g{depth}": _mtp(depth) for depth in (2, 3, 4)},
    **{f"r{depth}": _mtp(depth, 0.6) for depth in (2, 3, 4)},
    "g4p": _mtp(4, p_min=0.6),
    "r4p": _mtp(4, 0.6, p_min=0.6),
    **dict.fromkeys(("mtp_k2", "mtp2_g"), _mtp(2)),
    "mtp4p_g": _mtp(4, p_min=0.6),
    "mtp2_t1": _mtp(2, 1.0),
    "mtp2_t1_d06": _mtp(2, 1.0, words=COOLER),
    "mtp4p_t1": _mtp(4, 1.0, p_min=0.6),
    **dict.fromkeys(("dspark_t1", "dspark_carry_t1"), _dspark(1.0)),
    "dspark_t1_d06": _dspark(1.0, f"DSpark, blocks of 8. {COOLER}"),
    "dspark_rerun_t1": _dspark(1.0, RERUN),
    **dict.fromkeys(("dspark_g", "dspark_carry_g", "dspark_b8"), _dspark()),
    "dspark_rerun_g": _dspark(words=RERUN),
    "dspark_b6": _dspark(words="DSpark, blocks of 6."),
    # `dspark_best` repeats `dspark_b4`, which ran once.
    **dict.fromkeys(("dspark_best", "dspark_b4"), _dspark(words="DSpark, blocks of 4.")),
}


def transcribe(folder: Path) -> Json:
    """Transcribe every setting once, prompt by prompt."""
    found = documents(folder, "*/*.json", DIGEST)
    seen: set[object] = set()
    rows = [row for name in FILES for row in _rows(name, found[f"{name}.json"], seen)]
    return described(__file__, rows)


def _rows(name: str, report: Json, seen: set[object]) -> Iterator[Json]:
    """Yield the rows of a file's settings that earlier files lack, each after its baseline."""
    bits, cap, cells = report.get("target_bits", 4), report["cap"], report["cells"]
    baselines: set[str] = set()
    for key in sorted(cells, key=lambda each: -len(cells[each])):
        arm, prompt = key.split("|")
        setting = (bits, cap, ARMS[arm], prompt)
        if ARMS[arm].method == "none" or setting in seen:
            continue
        seen.add(setting)
        plain = next(
            other
            for other in cells
            if other.endswith(f"|{prompt}")
            and ARMS[other.split("|")[0]] == SourceArm(temperature=ARMS[arm].temperature)
        )
        if plain not in baselines:
            baselines.add(plain)
            yield _row(name, report, plain)
        yield _row(name, report, key, baseline=plain)


def _row(name: str, report: Json, cell: str, baseline: str | None = None) -> Json:
    arm_name, prompt = cell.split("|")
    arm, repeats = ARMS[arm_name], report["cells"][cell]
    accepted = [repeat["accept"] for repeat in repeats if repeat.get("accept") is not None]
    notes = [arm.words, KOREAN if prompt == "ko" else None]
    return stated(
        id=_id(name, cell),
        place=f"results/{name}.json, {arm_name}, {prompt}",
        kind="speculation" if baseline else "baseline",
        rig=RIG,
        engine={"name": "mlx-lm, fork", "backend": "metal"},
        target=dense("Qwen3.8-27B", f"{report.get('target_bits', 4)}-bit", 27),
        draft={"name": "Qwen3.8-27B-DSpark"} if arm.method == "other" else None,
        method=arm.method,
        n_max=arm.n_max,
        p_min=arm.p_min,
        task=TASKS[prompt],
        settings={
            "max_output_tokens": report["cap"],
            "temperature": arm.temperature,
            "prompts": 1,
        },
        baseline_row=_id(name, baseline) if baseline else None,
        figures=[
            median_figure("decode_tps", [repeat["tok_s"] for repeat in repeats]),
            *([median_figure("tokens_per_round", accepted)] if accepted else []),
        ],
        note=" ".join(note for note in notes if note) or None,
    )


def _id(name: str, cell: str) -> str:
    return f"{name.partition('/')[2]}-{cell}".replace("_", "-").replace("|", "-")


if __name__ == "__main__":
    main(transcribe)
