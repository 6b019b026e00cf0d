"""Do the shapes that files have in the wild read? Each case is one that a public file had."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from harness.errors import BadInputError
from harness.importers.entries import document
from harness.importers.model import MAX_BYTES, Given, given
from schemas.method import Mtp
from tests.harness.imports import ALL, FACTS, SAMPLES, changed, run

if TYPE_CHECKING:
    from pathlib import Path


OFF = "mtp-bench-off.json"
ON = "mtp-bench-on.json"


def as_json(name: str, value: object) -> Given:
    return Given(name=name, data=json.dumps(value).encode())


def answer(question: int, *, tokens: list[int], seconds: list[float], text: str = "x") -> str:
    """One line of Spec-Bench's answers, written as Python writes it: NaN and all."""
    choice = {"turns": [text] * len(tokens), "new_tokens": tokens, "wall_time": seconds}
    model = "some-7b-fp16-temperature-0.0"
    return json.dumps({"question_id": question, "model_id": model, "choices": [choice]})


def test_nan_in_a_failed_answer_is_unknown() -> None:
    facts = FACTS | {"method": "eagle3"}
    base = answer(1, tokens=[50, 52], seconds=[1.0, 1.0])
    spec = answer(1, tokens=[0, 0], seconds=[float("nan"), float("nan")], text="ERROR")
    assert "NaN" in spec

    files = [Given(name="base", data=base.encode()), Given(name="e", data=spec.encode())]
    submission = run("spec-bench", files, facts).submissions[0]

    assert [(t.outcome, t.wall_ms) for t in submission.trials] == [("ok", 2000.0), ("failed", None)]
    assert (submission.settings.sampling, submission.target.quantisation) == ("greedy", "Q4_K_M")


def test_a_text_that_says_nan_keeps_it() -> None:
    data = rb'{"a": "NaN \" Infinity", "b": [NaN, -Infinity, 1.5]}'

    value = document(Given(name="a.json", data=data))

    assert value == {"a": 'NaN " Infinity', "b": [None, None, 1.5]}


def test_a_type_in_the_name_of_the_answers_is_the_quantisation() -> None:
    facts = {key: value for key, value in FACTS.items() if key != "quantisation"}
    file = Given(name="base", data=answer(1, tokens=[11], seconds=[1.0]).encode())

    submission = run("spec-bench", [file], facts).submissions[0]

    assert submission.target.quantisation == "F16"


def test_a_baseline_without_tokens_is_refused_and_says_why() -> None:
    files = [
        Given(name="base", data=answer(1, tokens=[0, 0], seconds=[9.0, 9.0]).encode()),
        Given(name="spec", data=answer(1, tokens=[30, 30], seconds=[2.0, 2.0]).encode()),
    ]

    with pytest.raises(BadInputError, match=r"nothing to compare; a record without both tokens"):
        run("spec-bench", files, FACTS | {"method": "eagle3"})


@pytest.mark.parametrize("none", [0, 1e-9])
def test_tokens_in_no_time_are_left_out(none: float) -> None:
    def timeless(value: dict[str, Any]) -> None:
        value["results"][0].update(predicted_ms=none)

    names = ALL["speed-bench"].files
    files = [given(SAMPLES / names[0]), changed(names[1], timeless)]

    done = run("speed-bench", files, ALL["speed-bench"].facts)

    assert any("without both tokens and time" in line for line in done.left_out)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("predicted_per_second", 1e-308, "without both tokens and time"),
        ("predicted_per_second", 1e-11, "times add up to 2e+16 ms; one of them is a slip"),
        ("predicted_n", 10**16, "expected a whole number from 0"),
    ],
)
def test_a_figure_beyond_all_measure_is_told(key: str, value: float, said: str) -> None:
    def beyond(top: dict[str, Any]) -> None:
        top["requests"] = [top["requests"][0] | {key: value}]

    with pytest.raises(BadInputError) as caught:
        run("mtp-bench", [changed(OFF, beyond)], ALL["mtp-bench"].facts)

    assert said in str(caught.value)


@pytest.mark.parametrize("moment", [10**15, 10**12])
def test_a_moment_after_the_last_year_is_told(moment: int) -> None:
    row = json.loads(answer(1, tokens=[11], seconds=[1.0])) | {"tstamp": moment}

    with pytest.raises(BadInputError, match=r"tstamp is .* expected a time in seconds since 1970"):
        run("spec-bench", [as_json("base", row)], FACTS)


def test_rounds_longer_than_any_draft_have_no_histogram() -> None:
    row = json.loads(answer(1, tokens=[1002], seconds=[1.0]))
    row["choices"][0]["accept_lengths"] = [1, 1000]
    base = Given(name="base", data=answer(1, tokens=[11], seconds=[1.0]).encode())

    submission = run("spec-bench", [base, as_json("x", row)], FACTS | {"method": "eagle3"})

    trial = submission.submissions[0].trials[1]
    assert (trial.rounds, trial.accepted, trial.accepted_histogram) == (2, 999, None)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_a_shell_of_windows_wrote_reads(encoding: str) -> None:
    data = (SAMPLES / "llama-bench.json").read_text(encoding="utf-8").encode(encoding)

    done = run("llama-bench", [Given(name="bench.json", data=data)], {})

    assert len(done.submissions) == 2


def test_a_packed_file_reads_as_what_is_inside(tmp_path: Path) -> None:
    inside = (SAMPLES / OFF).read_bytes()
    (tmp_path / "off.json.gz").write_bytes(gzip.compress(inside))
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(inside)[:-20])

    packed = given(tmp_path / "off.json.gz")

    assert (packed.data, packed.stem) == (inside, "off")
    with pytest.raises(BadInputError, match="cannot be unpacked"):
        given(tmp_path / "cut.json.gz")


def test_a_packed_file_may_not_be_larger_inside(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * (MAX_BYTES + 1), compresslevel=1))

    with pytest.raises(BadInputError, match="larger than 64 MiB"):
        given(tmp_path / "bomb.gz")


def test_an_answer_over_several_lines_is_one_answer() -> None:
    rows = (SAMPLES / "vllm-baseline.jsonl").read_text(encoding="utf-8").splitlines()
    body = json.loads(rows[0])["response"]["body"]
    pretty = Given(name="one.json", data=json.dumps(body, indent=2).encode())

    submission = run("vllm", [pretty], ALL["vllm"].facts).submissions[0]

    assert [(t.prompt, t.output_tokens) for t in submission.trials] == [("request-1", 41)]


def test_what_a_runner_wrote_around_mtp_bench_is_read() -> None:
    around = {"gguf": "Some/Sample-27B-UD-Q4_K_XL.gguf", "timestamp": "2026-05-15T10:41:43.07"}
    flags = "--spec-type draft-mtp --spec-draft-n-max 2 -np 1"
    files = [
        changed(OFF, lambda v: v.update(around | {"spec_flags": "(none)"})),
        changed(ON, lambda v: v.update(around | {"spec_flags": flags})),
    ]

    facts = {"backend": "rocm", "gpu": "Some GPU", "sampling": "other"}
    submission = run("mtp-bench", files, facts).submissions[0]

    assert (submission.target.name, submission.target.quantisation) == ("Sample-27B", "UD-Q4_K_XL")
    assert submission.measured_from == "2026-05-15T00:00:00Z"
    assert submission.arms[1].method == Mtp(n_max=2)


def test_the_concurrency_of_mtp_bench_stands_in_the_aggregate() -> None:
    files = [changed(name, lambda v: v["aggregate"].update(concurrency=4)) for name in (OFF, ON)]

    submission = run("mtp-bench", files, ALL["mtp-bench"].facts).submissions[0]

    assert [arm.concurrency for arm in submission.arms] == [4, 4]


def test_an_error_in_the_table_of_mtp_bench_is_a_failed_trial_and_a_sum_is_listed() -> None:
    table = (
        "| code_python        pred= 192 draft= 180 acc= 130 rate=0.722 tok/s=50.0\n"
        "  code_cpp           ERROR: HTTP Error 500: Internal Server Error\n"
        "  translation x3     pred= 144 draft= 150 acc=  60 rate=0.400 tok/s=20.0\n"
    )
    files = [given(SAMPLES / OFF), Given(name="on.txt", data=table.encode(), arm="on")]

    done = run("mtp-bench", files, ALL["mtp-bench"].facts)

    on = [trial for trial in done.submissions[0].trials if trial.arm == "on"]
    assert [(t.prompt, t.outcome, t.reason) for t in on] == [
        ("code_python", "ok", None),
        ("code_cpp", "failed", "bad-answer"),
    ]
    assert "on.txt: line 3: a sum over 3 runs" in done.left_out


def test_a_word_after_the_name_of_the_backend_is_no_obstacle() -> None:
    def radv(value: list[dict[str, Any]]) -> None:
        for row in value:
            row["backends"] = "Vulkan RADV"

    done = run("llama-bench", [changed("llama-bench.json", radv)], {})

    assert {each.engine.backend for each in done.submissions} == {"vulkan"}


@pytest.mark.parametrize(
    ("method", "counts", "drafted_histogram"),
    [
        # 12 of 20 rounds drafted; the others found no n-gram and are no steps to vLLM.
        ("ngram", (60, 11, 20), (8, 0, 0, 0, 0, 12)),
        # 25 accepted in 9 rounds make 35 tokens, the answer has 32: the limit cut 3 of them off.
        ("draft_model", (27, 22, 9), (0, 0, 0, 9)),
    ],
)
def test_real_answers_of_vllm_count_as_the_runner_counts_them(
    method: str, counts: tuple[int, int, int], drafted_histogram: tuple[int, ...]
) -> None:
    real = SAMPLES.parent / "vllm"
    files = [given(real / "none" / "chat.json"), given(real / method / "chat.json", "spec")]

    done = run("vllm", files, FACTS | {"sampling": "greedy", "method": "other:name=any"})

    trial = done.submissions[0].trials[1]
    assert trial.output_tokens == 32
    assert {line.partition(": ")[2].partition(":")[0] for line in done.left_out} == {
        "fields that no result has"
    }
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


def test_a_test_of_llama_bench_with_speculation_is_no_baseline() -> None:
    def drafted(value: list[dict[str, Any]]) -> None:
        value += [row | {"spec_type": "draft-mtp", "draft_model": "d.gguf"} for row in value]
        value[0]["spec_type"] = "none"

    plain = run("llama-bench", [changed("llama-bench.json", lambda _: None)], {})
    done = run("llama-bench", [changed("llama-bench.json", drafted)], {})

    assert len(done.submissions[0].trials) == len(plain.submissions[0].trials)
    assert any("with speculation, which is no baseline" in line for line in done.left_out)


def test_a_table_of_spec_bench_with_both_arms_has_its_own_baseline() -> None:
    table = (
        "| task | run | stage | tokens | stop | time(s) | rounds | accepted |\n"
        "| code | 1 | base | 101 | limit | 4.000 | - | - |\n"
        "| code | 1 | mtp | 101 | limit | 2.000 | 50 | 50/100 |\n"
    )
    facts = ALL["llama-spec-bench"].facts

    (found,) = run(
        "llama-spec-bench", [Given(name="both.md", data=table.encode())], facts
    ).submissions

    assert [(arm.id, type(arm.method)) for arm in found.arms][1] == ("speculative", Mtp)
    assert [(t.arm, t.decode_ms, t.accepted) for t in found.trials] == [
        ("baseline", 4000.0, None),
        ("speculative", 2000.0, 50),
    ]
