"""JSON files of each format become the results worked out by hand, in the forms of public files."""

import json
from typing import Any

import pytest

from harness.imports.source_files import Given, given
from tests.harness.imports.samples import (
    ALL,
    DRAFTED,
    GREEDY,
    SAMPLES,
    Case,
    bodies,
    changed,
    file,
    files,
    served,
)

DAY = {"date": "2026-06-01"}


def bench(**change: Any) -> list[Given]:  # noqa: ANN401 - JSON
    """The sample of llama-bench with changed fields in each test."""
    cards = {"gpu_info": "Card A, Card B", "split_mode": "layer"} | change
    return [changed("llama-bench.json", lambda rows: [row.update(cards) for row in rows])]


def with_drafts(value: list[dict[str, Any]]) -> None:
    value += [row | {"spec_type": "draft-mtp", "draft_model": "d.gguf"} for row in value]
    value[0]["spec_type"] = "none"


def steps(*tests: tuple[int, float]) -> list[Given]:
    """Tests of llama-bench: `-p width -n 0`, or `-n 128` for a width of 0; with milliseconds."""
    rows = [
        {
            "model_filename": "Qwen3-8B-Q4_K_M.gguf", "backends": "CUDA", "gpu_info": "RTX 3090",
            "n_prompt": width, "n_gen": 0 if width else 128, "avg_ts": 1.0,
            "samples_ns": [ms * 1e6, (ms + 0.2) * 1e6, (ms + 9) * 1e6],
        }
        for width, ms in tests
    ]  # fmt: skip
    return [file("b", rows)]


def encoded(encoding: str) -> Given:
    text = (SAMPLES / "llama-bench.json").read_text("utf-8")
    return Given(name="b", data=text.encode(encoding))


# 128 steps in 1280 ms: 10 ms a step, as its 100 tokens a second say.
OF_BENCH = {
    "0.arms.*.id": ["baseline"],
    "0.trials.*.prompt,block,output_tokens,decode_ms": [
        ["tg128", 0, 129, 1280.0], ["tg128", 1, 129, 1408.0], ["tg128-d512", 0, 129, 2560.0],
    ],
    "0.measured_from": "2025-04-24T11:59:33Z",
    "*.engine.backend": ["cuda", "vulkan"],
    "0.settings.flash_attention": "auto",
}  # fmt: skip
BENCHES = {
    "a baseline with a block for each repetition": Case(
        "llama-bench", files("llama-bench"), {}, OF_BENCH, ["processes a prompt"]
    ),
    "lines": Case("llama-bench", [given(SAMPLES / "llama-bench.jsonl")], {}, OF_BENCH),
    "a byte-order mark": Case("llama-bench", [encoded("utf-8-sig")], {}, OF_BENCH),
    "UTF-16 of a Windows shell": Case("llama-bench", [encoded("utf-16")], {}, OF_BENCH),
    "speculation is not a baseline": Case(
        "llama-bench", [changed("llama-bench.json", with_drafts)], {}, OF_BENCH,
        ["uses speculation, so it is not a baseline"],
    ),
    "steps are a verification curve": Case(
        "llama-bench", steps((0, 1280.0), (512, 300.0), (4, 12.8), (1, 9.8), (16, 29.8)), DAY,
        {
            "0.probes.verification.widths,step_ms_median": [[1, 4, 16], [10.0, 13.0, 30.0]],
            "0.probes.verification.repeats": 3,
            "0.trials.*.output_tokens": [129] * 3,
        },
        ["processes a prompt"],
    ),
    "a step of one token is plain decoding": Case(
        "llama-bench", steps((2, 10.8), (1, 9.8)), DAY,
        {"0.trials.*.decode_ms": [9.8, 10.0, 18.8]},
    ),
} | {
    f"the cards used: {', '.join(cards)}": Case(
        "llama-bench", bench(**change), {}, {"0.machine.gpus.*.name": cards}
    )
    for change, cards in (
        ({}, ["Card A", "Card B"]),
        ({"split_mode": "none", "main_gpu": 1}, ["Card B"]),
        ({"gpu_info": "Card A, Card A", "backends": "CUDA,Vulkan"}, ["Card A"]),
    )
}  # fmt: skip


def real(method: str) -> list[Given]:
    folder = SAMPLES.parent / "vllm"
    return [given(folder / "none" / "chat.json"), given(folder / method / "chat.json", "spec")]


def many(name: str) -> Given:
    row = json.loads((SAMPLES / name).read_text(encoding="utf-8").splitlines()[0])
    both = [(category, number) for category in ("code", "math") for number in range(300)]
    return file(name, *(row | {"custom_id": f"{c}{n}", "category": c} for c, n in both))


REAL = "0.trials.1.output_tokens,drafted,accepted,rounds,drafted_histogram"
ANSWERS = {
    "counters and histograms": Case(
        "vllm", files("vllm"), ALL["vllm"].facts,
        {
            # Histogram 4, 4, 4, 4: 16 rounds, 24 accepted, 41 tokens with the first. Then 11
            # rounds and 30 accepted make 42 tokens, the answer has 41: the draft was cut by one.
            "0.trials.arm=vllm-spec.rounds,accepted,accepted_histogram": [
                [16, 24, [4, 4, 4, 4]], [11, 29, None], [None] * 3,
            ],
            "0.trials.3.drafted,drafted_histogram,ttft_ms": [48, [0, 0, 0, 16], 50.0],
            "0.trials.outcome=failed.reason": ["context-too-small"],
            # Facts that nobody stated stay unknown.
            "0.machine.cpu,ram_mib,os": [{}, None, None],
            "0.engine.version": None,
            "0.settings.max_output_tokens": None,
            "0.target.parameters": 27_000_000_000,  # by its name
            "0.trials.arm=baseline.rounds": [None] * 3,
        },
    ),
    "answers without ids": Case(
        "vllm", [bodies("vllm-baseline.jsonl"), bodies("vllm-spec.jsonl")], ALL["vllm"].facts,
        {"0.suite.prompts.*.id": ["request-1", "request-2"]},
    ),
    "more prompts than a result holds": Case(
        "vllm", [many(name) for name in ALL["vllm"].files], ALL["vllm"].facts,
        {"*.suite.prompts.*.task": [["code"] * 300, ["math"] * 300]},
    ),
    "a draft model": Case(
        "vllm", files("vllm"),
        GREEDY | {"method": "draft-model", "draft": "Small-0.5B-Q8_0.gguf", "n_max": "4"},
        {
            "0.arms.1.method": {"type": "draft-model", "draft": "small-0.5b-q8_0", "n_max": 4},
            "0.drafts.0.quantisation": "Q8_0",
        },
    ),
    "axes": Case(
        "vllm", files("vllm"),
        ALL["vllm"].facts | {"sampling": "other", "temperature": "0.8", "sampling_seed": "3",
                             "split_mode": "row", "cpu_expert_layers": "-1"},
        {"0.settings.temperature,sampling_seed,cpu_expert_layers,split_mode": [0.8, 3, -1, "row"]},
    ),
    # 12 of 20 rounds drafted; the others found no n-gram and are not steps to vLLM.
    "n-grams, counted as the runner counts": Case(
        "vllm", real("ngram"), GREEDY | {"method": "other:name=any"},
        {REAL: [32, 60, 11, 20, [8, 0, 0, 0, 0, 12]]},
    ),
    # 25 accepted in 9 rounds make 35 tokens, the answer has 32: the limit cut 3 of them off.
    "a cut draft, counted as the runner counts": Case(
        "vllm", real("draft_model"), GREEDY | {"method": "other:name=any"},
        {REAL: [32, 27, 22, 9, [0, 0, 0, 9]]},
    ),
}  # fmt: skip


def of_sglang(name: str, *itls: list[float], **more: float) -> Given:
    own: dict[str, Any] = {"num_prompts": "left out", "model_id": "left out"}
    own |= {"backend": "sglang-oai", "completed": len(itls), "max_concurrency": None}
    return served(name, *itls, request_rate=float("inf"), **own, **more)


def both(*levels: tuple[float, float, int]) -> list[Given]:
    """Runs of one request at several concurrency levels, without and with speculation."""
    runs = [
        [json.loads(served("x", [each[arm]] * 10, max_concurrency=each[2]).data) for each in levels]
        for arm in (0, 1)
    ]
    return [file("base", *runs[0]), file("spec", *runs[1])]


PLAIN, SLOW = [0.1] * 10, [0.2] * 10
# Fewer chunks, as drafts come in one: 0.5 s and 0.25 s in place of 1 s and 2 s; the mean is the
# square root of 2 · 8.
FEW = ([0.25] * 2, [0.05] * 5)
SUMMED = "the counters of speculation, because the tool sums them over all requests"
SERVED = {
    "requests are paired by their place": Case(
        "vllm",
        [
            served("base.json", PLAIN, SLOW, [], errors=["", "", "Traceback: timed out"]),
            served("spec.json", *FEW, [0.1], spec_decode_num_drafts=7),
        ],
        {key: DRAFTED[key] for key in ("quantisation", "backend", "gpu", "method", "sampling")},
        {
            "0.summary.estimates.task=other.speedup": [pytest.approx(4.0)],
            "0.target.name": "Sample-8B",
            "0.measured_from": "2026-05-17T00:00:00Z",
            "0.trials.outcome=failed.reason": ["timed-out"],
            "0.suite.id": "vllm-unknown-data-set",
        },
        [f"spec.json: {SUMMED}", "state it with --map dataset=…"],
    ),
    "the data set is that of the suite": Case(
        "vllm", both((0.1, 0.05, 1)), DRAFTED | {"dataset": "ShareGPT"},
        {"0.suite.id": "vllm-sharegpt"},
    ),
    "a rate and a stated concurrency": Case(
        "vllm", [served("b", PLAIN, request_rate=2.0, max_concurrency=None)],
        GREEDY | {"concurrency": "3"}, {"0.arms.0.concurrency": 3},
    ),
    "all requests at once": Case(
        "vllm", [served("b", PLAIN, PLAIN, max_concurrency=None)], GREEDY,
        {"0.arms.0.concurrency": 2},
    ),
    "levels of concurrency are separate results": Case(
        "vllm", both((0.1, 0.05, 1), (0.2, 0.4, 8)), DRAFTED,
        {
            "*.arms.0.concurrency": [None, 8],
            "*.summary.estimates.0.speedup": [pytest.approx(2.0), pytest.approx(0.5)],
        },
    ),
    "SGLang's bench": Case(
        "vllm",
        [of_sglang("base.jsonl", PLAIN, SLOW), of_sglang("spec.jsonl", *FEW, accept_length=3.1)],
        DRAFTED,
        {
            "0.engine.name": "SGLang",
            "0.arms.0.concurrency": 2,  # all at once
            "0.summary.estimates.0.speedup": pytest.approx(4.0),
        },
        [f"spec.jsonl: {SUMMED}"],
    ),
}  # fmt: skip

CASES = BENCHES | ANSWERS | SERVED


@pytest.mark.parametrize("name", CASES)
def test_a_file_becomes_the_result_worked_out_by_hand(name: str) -> None:
    CASES[name].check()
