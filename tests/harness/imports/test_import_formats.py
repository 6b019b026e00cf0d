"""The counters, times, rigs and failures of each format mean what its tool means by them."""

import json
from typing import Any

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.imports.source_files import given
from schemas.method import Method
from schemas.submission import OperatingSystem
from tests.harness.imports.samples import ALL, SAMPLES, changed, file, imported, one, run


def test_the_community_file_becomes_a_result_for_every_run_and_backend() -> None:
    done = imported("inventivehq")
    cuda, vulkan, cpu = done.submissions

    assert [each.engine.backend for each in done.submissions] == ["cuda", "vulkan", "cpu"]
    assert [gpu.name for gpu in cuda.machine.gpus] == ["NVIDIA GeForce RTX 5060 Ti"]
    assert cuda.machine.gpus[0].vram_mib == 16311
    assert cuda.machine.os is not None
    assert cuda.machine.os.family == "windows"
    assert cuda.engine.build_number == 9789
    assert (cuda.target.name, cuda.target.quantisation) == ("Sample-Coder-7B-Instruct", "Q4_K_M")
    assert [arm.method for arm in cuda.arms[1:]] == [
        Method(type="draft-model", draft="sample-coder-0.5b-instruct-q8_0", n_max=5),
        Method(type="ngram-cache", n_max=5),
    ]
    assert (cuda.machine.os.version, cuda.machine.cpu.architecture) == ("10.0.26100", None)
    assert (vulkan.arms[1].outcome, vulkan.arms[1].reason) == ("failed", "load-failed")
    assert cpu.machine.gpus == ()
    assert any("not a speculation experiment" in line for line in done.left_out)
    assert any("GTX" not in line and "did not use" in line for line in done.left_out)


def test_an_error_row_is_a_failed_trial_and_a_server_that_drafts_nothing_says_null() -> None:
    cuda = imported("inventivehq").submissions[0]
    failed = [trial for trial in cuda.trials if trial.outcome == "failed"]
    ngram = {trial.prompt: trial for trial in cuda.trials if trial.arm == "ngram"}

    assert [(t.arm, t.prompt, t.reason) for t in failed] == [("draft_0_5b", "chat_a", "timed-out")]
    assert (ngram["code_a"].drafted, ngram["code_a"].accepted) == (0, 0)
    assert (ngram["code_b"].drafted, ngram["code_b"].accepted) == (8, 0)
    assert {t.drafted for t in cuda.trials if t.arm == "baseline"} == {None}


def test_hashes_of_outputs_become_exactness_and_names_become_sizes() -> None:
    def part(value: dict[str, Any]) -> None:
        value["runs"]["gpu0"]["runs"][2]["records"][0]["out_hash"] = "another"

    done = run("inventivehq", [changed("inventivehq.json", part)], {"date": "2026-06-01"})
    cuda = done.submissions[0]
    found = {(e.arm, e.prompt): e.exactness for e in summarize(cuda).prompts}

    assert found["draft_0_5b", "code_a"] == "identical"
    assert found["ngram", "code_a"] == "diverged"
    assert found["ngram", "code_b"] == "identical"
    assert (cuda.target.parameters, cuda.drafts[0].parameters) == (7_000_000_000, 500_000_000)


def test_no_private_folder_gets_into_a_result() -> None:
    assert all("somebody" not in repr(each) for each in imported("inventivehq").submissions)


def test_llama_bench_gives_a_baseline_with_a_block_for_each_repetition() -> None:
    done = imported("llama-bench")
    cuda, vulkan = done.submissions

    assert [arm.id for arm in cuda.arms] == ["baseline"]
    # 128 steps in 1280 ms: 10 ms a step, as its 100 tokens a second say.
    assert [(t.prompt, t.block, t.output_tokens, t.decode_ms) for t in cuda.trials] == [
        ("tg128", 0, 129, 1280.0),
        ("tg128", 1, 129, 1408.0),
        ("tg128-d512", 0, 129, 2560.0),
    ]
    assert (cuda.measured_from, vulkan.engine.backend) == ("2025-04-24T11:59:33Z", "vulkan")
    assert cuda.settings.flash_attention == "auto"
    assert "processes a prompt" in done.left_out[0]


def test_llama_bench_reads_lists_and_lines_alike() -> None:
    listed = imported("llama-bench").submissions

    lined = run("llama-bench", [given(SAMPLES / "llama-bench.jsonl")], {}).submissions

    assert [each.trials for each in lined] == [each.trials for each in listed]


def test_vllm_counters_and_histograms_come_from_the_answer() -> None:
    spec = [trial for trial in one("vllm").trials if trial.arm == "vllm-spec"]

    # Histogram 4, 4, 4, 4: 16 rounds, 24 accepted, 41 tokens with the first.
    assert (spec[0].rounds, spec[0].accepted, spec[0].drafted) == (16, 24, 48)
    assert spec[0].accepted_histogram == (4, 4, 4, 4)
    assert spec[0].drafted_histogram == (0, 0, 0, 16)
    assert spec[0].ttft_ms == 50.0
    # 11 rounds and 30 accepted make 42 tokens, the answer has 41: the last draft was cut by one.
    assert (spec[1].accepted, spec[1].rounds, spec[1].accepted_histogram) == (29, 11, None)
    assert (spec[2].outcome, spec[2].reason) == ("failed", "context-too-small")


def test_answers_without_ids_are_paired_by_position_if_the_prompts_are_as_long() -> None:
    def bare(name: str) -> list[dict[str, Any]]:
        rows = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
        return [json.loads(row)["response"]["body"] for row in rows][:2]

    base, spec = bare("vllm-baseline.jsonl"), bare("vllm-spec.jsonl")
    facts = ALL["vllm"].facts
    done = run("vllm", [file("x", *base), file("x", *spec)], facts).submissions[0]

    assert [prompt.id for prompt in done.suite.prompts] == ["request-1", "request-2"]
    with pytest.raises(BadInputError, match="not have the same prompts"):
        run("vllm", [file("x", *base), file("x", *spec[::-1])], facts)


def test_a_run_on_the_processor_of_a_machine_without_listed_cards_has_no_gpu() -> None:
    def on_apple(value: dict[str, Any]) -> None:
        value["hardware"] = {"platform": "macOS-26.5.1-arm64", "cpu": "Apple M3 Max", "gpus": []}
        value["runs"]["cpu"]["meta"]["gpu"] = "Apple M3 Max (CPU, 14-core)"
        value["runs"]["gpu0"]["meta"]["gpu"] = "Apple M3 Max (Metal, 30-core GPU)"
        for run_of_method in value["runs"]["gpu0"]["runs"]:
            run_of_method["backend"] = "metal"

    done = run("inventivehq", [changed("inventivehq.json", on_apple)], {"date": "2026-06-01"})
    metal, cpu = done.submissions

    assert [gpu.name for gpu in metal.machine.gpus] == ["Apple M3 Max"]
    assert metal.machine.os == OperatingSystem(family="macos", version="26.5.1")
    assert metal.machine.cpu.architecture == "aarch64"
    assert (cpu.machine.gpus, cpu.machine.cpu.name) == ((), "Apple M3 Max")
    # Two runs of the same method are two blocks.
    assert metal.design.blocks == 2


# 101 and 81 tokens at 10 a second, or the 100 and 80 steps after the first token.
@pytest.mark.parametrize(
    ("facts", "decode_ms"),
    [
        ({}, [10100.0, 8080.0]),
        ({"rate_counts": "tokens"}, [10100.0, 8080.0]),
        ({"rate_counts": "steps"}, [10000.0, 8000.0]),
    ],
)
def test_an_old_file_without_hardware_and_times_reads_as_well(
    facts: dict[str, str], decode_ms: list[float]
) -> None:
    def bare(value: dict[str, Any]) -> None:
        inner = value["runs"]["cpu"]
        value.clear()
        value |= inner

    stated = {"date": "2026-06-01", "cpu": "Some CPU"} | facts
    (only,) = run("inventivehq", [changed("inventivehq.json", bare)], stated).submissions

    assert [trial.decode_ms for trial in only.trials] == decode_ms
