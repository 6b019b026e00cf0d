"""Real files vary in form: each case here is that of a public file."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BadInputError
from harness.imports.json_values import parse
from harness.imports.source_files import MAX_BYTES, Given, given
from tests.harness.imports.samples import ALL, FACTS, SAMPLES, changed, file, run


def test_a_text_that_says_nan_keeps_it() -> None:
    text = r'{"a": "NaN \" Infinity", "b": [NaN, -Infinity, 1.5]}'

    value = parse(text, "a.json")

    assert value == {"a": 'NaN " Infinity', "b": [None, None, 1.5]}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_written_by_a_windows_shell_are_read(encoding: str) -> None:
    data = (SAMPLES / "llama-bench.json").read_text(encoding="utf-8").encode(encoding)

    done = run("llama-bench", [Given(name="bench.json", data=data)], {})

    assert len(done.submissions) == 2


def test_a_compressed_file_reads_like_its_content(tmp_path: Path) -> None:
    inside = (SAMPLES / "llama-bench.json").read_bytes()
    (tmp_path / "bench.json.gz").write_bytes(gzip.compress(inside))
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(inside)[:-20])

    packed = given(tmp_path / "bench.json.gz")

    assert (packed.data, packed.stem) == (inside, "bench")
    with pytest.raises(BadInputError, match="cannot be unpacked"):
        given(tmp_path / "cut.json.gz")


def test_a_packed_file_may_not_be_larger_inside(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * (MAX_BYTES + 1), compresslevel=1))

    with pytest.raises(BadInputError, match="larger than 64 MiB"):
        given(tmp_path / "bomb.gz")


@pytest.mark.parametrize(
    ("method", "counts", "drafted_histogram"),
    [
        # 12 of 20 rounds drafted; the others found no n-gram and are not steps to vLLM.
        ("ngram", (60, 11, 20), (8, 0, 0, 0, 0, 12)),
        # 25 accepted in 9 rounds make 35 tokens, the answer has 32: the limit cut 3 of them off.
        ("draft_model", (27, 22, 9), (0, 0, 0, 9)),
    ],
)
def test_counts_of_real_vllm_answers_agree_with_the_runner(
    method: str, counts: tuple[int, int, int], drafted_histogram: tuple[int, ...]
) -> None:
    real = SAMPLES.parent / "vllm"
    files = [given(real / "none" / "chat.json"), given(real / method / "chat.json", "spec")]

    done = run("vllm", files, FACTS | {"sampling": "greedy", "method": "other:name=any"})

    trial = done.submissions[0].trials[1]
    assert trial.output_tokens == 32
    assert done.left_out == ()
    assert (trial.drafted, trial.accepted, trial.rounds) == counts
    assert trial.drafted_histogram == drafted_histogram


@pytest.mark.parametrize(
    ("change", "cards"),
    [
        ({}, ["Card A", "Card B"]),
        ({"split_mode": "none", "main_gpu": 1}, ["Card B"]),
        ({"gpu_info": "Card A, Card A", "backends": "CUDA,Vulkan"}, ["Card A"]),
    ],
)
def test_llama_bench_on_several_cards_names_those_it_used(
    change: dict[str, Any], cards: list[str]
) -> None:
    def several(value: list[dict[str, Any]]) -> None:
        value[:] = [row | {"gpu_info": "Card A, Card B", "split_mode": "layer"} for row in value]
        for row in value:
            row.update(change)

    submission = run("llama-bench", [changed("llama-bench.json", several)], {}).submissions[0]

    assert [card.name for card in submission.machine.gpus] == cards


def test_a_llama_bench_test_with_speculation_is_not_a_baseline() -> None:
    def drafted(value: list[dict[str, Any]]) -> None:
        value += [row | {"spec_type": "draft-mtp", "draft_model": "d.gguf"} for row in value]
        value[0]["spec_type"] = "none"

    plain = run("llama-bench", [changed("llama-bench.json", lambda _: None)], {})
    done = run("llama-bench", [changed("llama-bench.json", drafted)], {})

    assert len(done.submissions[0].trials) == len(plain.submissions[0].trials)
    assert any("uses speculation, so it is not a baseline" in line for line in done.left_out)


def test_a_spec_bench_table_with_both_arms_has_its_own_baseline() -> None:
    table = (
        "| task | run | stage | tokens | stop | time(s) | rounds | accepted |\n"
        "| code | 1 | base | 101 | limit | 4.000 | - | - |\n"
        "| code | 1 | mtp | 101 | limit | 2.000 | 50 | 50/100 |\n"
    )
    facts = ALL["llama-spec-bench"].facts

    (found,) = run("llama-spec-bench", [file("both.md", table)], facts).submissions

    assert [(arm.id, arm.method.type) for arm in found.arms][1] == ("speculative", "mtp")
    assert [(t.arm, t.decode_ms, t.accepted) for t in found.trials] == [
        ("baseline", 4000.0, None),
        ("speculative", 2000.0, 50),
    ]
