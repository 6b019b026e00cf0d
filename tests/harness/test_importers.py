"""Do the files of other tools become results whose speedups are those worked out by hand?"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.importers import IMPORTERS
from harness.importers.assemble import About, assemble
from harness.importers.source import Given, arm_and_path, digest, given
from schemas.submission import DraftHead, DraftModel, Ngram, OtherMethod

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.importers.assemble import Imported
    from schemas.submission import Submission

SAMPLES = Path(__file__).parents[1] / "captures" / "imports"
FACTS = {
    "target": "Sample-27B",
    "quantisation": "Q4_K_M",
    "backend": "cuda",
    "gpu": "NVIDIA GeForce RTX 3090",
    "date": "2026-05-17",
}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Files of one format, the facts that they need, and what must come out.

    `speedups` are the geometric means of the paired prompts, by part, arm and task.
    """

    files: tuple[str, ...]
    facts: Mapping[str, str]
    speedups: Mapping[tuple[int, str, str], float | None]


# The square root of 2 · 4 is 2.828427.
ALL = {
    "inventivehq": Sample(
        files=("inventivehq.json",),
        facts={"date": "2026-06-01"},
        speedups={
            # 2000/1000 and 2000/500; the third prompt timed out.
            (0, "draft_0_5b", "code"): 8**0.5,
            (0, "draft_0_5b", "chat"): None,
            # 2000/2000 and 2000/1000.
            (0, "ngram", "code"): 2**0.5,
            (0, "ngram", "chat"): 0.8,
            (1, "draft_0_5b", "code"): None,
            (2, "ngram", "code"): 1.25,
        },
    ),
    "speed-bench": Sample(
        files=("speed-bench-baseline.json", "speed-bench-spec.json"),
        facts=FACTS | {"method": "mtp:n_max=3"},
        speedups={
            (0, "speed-bench-spec", "code"): 8**0.5,
            (0, "speed-bench-spec", "creative"): 0.8,
            (0, "speed-bench-spec", "other"): None,
        },
    ),
    "mtp-bench": Sample(
        files=("mtp-bench-off.json", "mtp-bench-on.json"),
        facts=FACTS | {"method": "mtp", "sampling": "other"},
        speedups={
            (0, "mtp-bench-on", "code"): 8**0.5,
            (0, "mtp-bench-on", "translation"): 0.5,
        },
    ),
    "llama-bench": Sample(files=("llama-bench.json",), facts={}, speedups={}),
    "vllm": Sample(
        files=("vllm-baseline.jsonl", "vllm-spec.jsonl"),
        facts=FACTS | {"method": "eagle3", "sampling": "greedy"},
        speedups={(0, "vllm-spec", "code"): 8**0.5, (0, "vllm-spec", "chat"): None},
    ),
    "spec-bench": Sample(
        files=("spec-bench-vanilla.jsonl", "spec-bench-medusa.jsonl"),
        facts=FACTS | {"arm.spec-bench-medusa": "other:name=medusa"},
        speedups={
            (0, "spec-bench-medusa", "creative"): 2.0,
            # The repetitions have ratios of 2 and 4; a prompt counts with the median of their logs.
            (0, "spec-bench-medusa", "math"): 8**0.5,
            (0, "spec-bench-medusa", "other"): None,
        },
    ),
}


def run(form: str, files: Sequence[Given], facts: Mapping[str, str]) -> Imported:
    about = About(format=form, sha256=digest(files), source="A thread", licence="MIT")
    return assemble(IMPORTERS[form](files), facts, about)


def imported(form: str) -> Imported:
    sample = ALL[form]
    return run(form, [given(SAMPLES / name) for name in sample.files], sample.facts)


def one(form: str) -> Submission:
    (only,) = imported(form).submissions
    return only


def changed(name: str, change: Any) -> Given:  # noqa: ANN401 - a function that edits JSON
    """A sample after a change of its JSON, under the same name."""
    value = json.loads((SAMPLES / name).read_bytes().removeprefix(b"\xef\xbb\xbf"))
    change(value)
    return Given(name=name, data=json.dumps(value).encode())


def test_every_importer_has_a_sample() -> None:
    assert ALL.keys() == IMPORTERS.keys()


@pytest.mark.parametrize("form", IMPORTERS)
def test_the_paired_geometric_means_are_those_worked_out_by_hand(form: str) -> None:
    found = {
        (number, estimate.arm, estimate.task): estimate.speedup
        for number, submission in enumerate(imported(form).submissions)
        for estimate in summarize(submission).estimates
        if estimate.task is not None
    }

    assert found.keys() == ALL[form].speedups.keys()
    assert found == {
        key: None if wanted is None else pytest.approx(wanted, abs=1e-6)
        for key, wanted in ALL[form].speedups.items()
    }


@pytest.mark.parametrize("form", IMPORTERS)
def test_a_result_says_where_it_comes_from(form: str) -> None:
    submission = imported(form).submissions[0]

    assert submission.tier == "imported"
    assert submission.engine.runner == "imported"
    assert submission.origin is not None
    assert (submission.origin.format, submission.origin.source) == (form, "A thread")
    assert submission.origin.licence == "MIT"


def test_the_digest_is_that_of_the_file_or_of_the_digests_of_several() -> None:
    first, second = Given(name="a", data=b"1"), Given(name="b", data=b"2")
    single = hashlib.sha256(b"1").hexdigest()
    both = f"{single}\n{hashlib.sha256(b'2').hexdigest()}\n".encode()

    assert digest([first]) == single
    assert digest([first, second]) == hashlib.sha256(both).hexdigest()


def test_what_nobody_says_stays_unknown() -> None:
    submission = one("mtp-bench")

    assert submission.machine.cpu.name is None
    assert submission.machine.ram_mib is None
    assert submission.machine.os is None
    assert submission.engine.version is None
    assert submission.settings.max_output_tokens is None
    assert submission.target.parameters is None
    assert {trial.rounds for trial in submission.trials if trial.arm == "baseline"} == {None}


def test_all_that_is_missing_is_said_at_once() -> None:
    files = [given(SAMPLES / name) for name in ALL["mtp-bench"].files]

    with pytest.raises(BadInputError) as caught:
        run("mtp-bench", files, {})

    for key in ("target", "quantisation", "backend", "gpu", "date", "sampling", "method"):
        assert f" {key}=…" in str(caught.value)
    assert "ram_mib" not in str(caught.value)


def test_a_draft_model_needs_its_depth_and_its_name() -> None:
    files = [given(SAMPLES / name) for name in ALL["mtp-bench"].files]
    facts = ALL["mtp-bench"].facts | {"method": "draft-model"}

    with pytest.raises(BadInputError, match=r"(?s)draft=….*draft_quantisation=….*n_max=…"):
        run("mtp-bench", files, facts)

    done = run("mtp-bench", files, {**facts, "draft": "Small-0.5B-Q8_0.gguf", "n_max": "4"})
    assert done.submissions[0].arms[1].method == DraftModel(draft="small-0.5b-q8_0", n_max=4)
    assert done.submissions[0].drafts[0].quantisation == "Q8_0"


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
        DraftModel(draft="sample-coder-0.5b-instruct-q8_0", n_max=5),
        Ngram(type="ngram-cache"),
    ]
    assert (vulkan.arms[1].outcome, vulkan.arms[1].reason) == ("failed", "load-failed")
    assert cpu.machine.gpus == ()
    assert any("another experiment" in line for line in done.left_out)
    assert any("GTX" not in line and "did not use" in line for line in done.left_out)


def test_an_error_row_is_a_failed_trial_and_null_is_unknown() -> None:
    cuda = imported("inventivehq").submissions[0]
    failed = [trial for trial in cuda.trials if trial.outcome == "failed"]
    ngram = {trial.prompt: trial for trial in cuda.trials if trial.arm == "ngram"}

    assert [(t.arm, t.prompt, t.reason) for t in failed] == [("draft_0_5b", "chat_a", "timed-out")]
    assert (ngram["code_a"].drafted, ngram["code_a"].accepted) == (None, None)
    assert (ngram["code_b"].drafted, ngram["code_b"].accepted) == (8, 0)


def test_no_folder_of_anybody_gets_into_a_result() -> None:
    assert all("somebody" not in repr(each) for each in imported("inventivehq").submissions)


@pytest.mark.parametrize(("counts", "decode_ms"), [("tokens", 7680.0), ("steps", 7640.0)])
def test_a_rate_becomes_a_time_by_what_it_counts(counts: str, decode_ms: float) -> None:
    files = [given(SAMPLES / name) for name in ALL["mtp-bench"].files]

    done = run("mtp-bench", files, ALL["mtp-bench"].facts | {"rate_counts": counts})

    # 192 tokens, or the 191 after the first, at 25 a second.
    assert done.submissions[0].trials[0].decode_ms == decode_ms


def test_the_printed_table_of_mtp_bench_reads_like_its_json() -> None:
    off = given(SAMPLES / "mtp-bench-off.json")
    table = given(SAMPLES / "mtp-bench-on.txt", arm="mtp-bench-on")
    facts = ALL["mtp-bench"].facts

    printed = run("mtp-bench", [off, table], facts).submissions[0]

    assert [t.decode_ms for t in printed.trials] == [t.decode_ms for t in one("mtp-bench").trials]
    assert [t.accepted for t in printed.trials] == [t.accepted for t in one("mtp-bench").trials]


def test_a_sample_of_two_turns_has_a_first_token_in_each() -> None:
    submission = one("speed-bench")
    writing = [trial for trial in submission.trials if trial.prompt == "q3"]

    # 202 tokens in two turns: 200 after a first one; 100 accepted leave 100 rounds.
    assert [trial.output_tokens for trial in writing] == [201, 201]
    assert (writing[1].accepted, writing[1].rounds) == (100, 100)
    assert submission.settings.max_output_tokens == 256
    assert submission.settings.sampling == "greedy"
    assert submission.arms[1].method == DraftHead(type="mtp", n_max=3)
    failed = [trial.reason for trial in submission.trials if trial.outcome == "failed"]
    assert failed == ["context-too-small"]


def test_counters_that_do_not_add_up_are_left_out_and_listed() -> None:
    done = imported("speed-bench")
    trial = next(t for t in done.submissions[0].trials if t.prompt == "q2" and t.drafted)

    # 90 drafts do not fit into 25 rounds of at most three.
    assert (trial.drafted, trial.accepted, trial.rounds) == (90, 75, None)
    assert any("at most 3" in line and "$.results[2]" in line for line in done.left_out)


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
    # 11 rounds and 30 accepted make 42 tokens, the answer has 41: no rounds, no histogram.
    assert (spec[1].accepted, spec[1].rounds, spec[1].accepted_histogram) == (30, None, None)
    assert (spec[2].outcome, spec[2].reason) == ("failed", "context-too-small")


def test_answers_without_ids_are_paired_by_position_if_the_prompts_are_as_long() -> None:
    def bare(name: str) -> list[dict[str, Any]]:
        rows = (SAMPLES / name).read_text(encoding="utf-8").splitlines()
        return [json.loads(row)["response"]["body"] for row in rows][:2]

    def lined(rows: list[dict[str, Any]]) -> Given:
        return Given(name="x.jsonl", data="\n".join(map(json.dumps, rows)).encode())

    base, spec = bare("vllm-baseline.jsonl"), bare("vllm-spec.jsonl")
    facts = ALL["vllm"].facts
    done = run("vllm", [lined(base), lined(spec)], facts).submissions[0]

    assert [prompt.id for prompt in done.suite.prompts] == ["request-1", "request-2"]
    with pytest.raises(BadInputError, match="not hold the same prompts"):
        run("vllm", [lined(base), lined(spec[::-1])], facts)


def test_spec_bench_says_that_its_time_includes_the_prompt() -> None:
    submission = one("spec-bench")
    medusa = [trial for trial in submission.trials if trial.arm == "spec-bench-medusa"]

    assert submission.notes is not None
    assert "includes processing the prompt" in submission.notes
    assert submission.design.blocks == 2
    # Two turns of 51 tokens, the first of each inside: 101 as one generation, 50 rounds of two.
    assert (medusa[0].output_tokens, medusa[0].rounds, medusa[0].accepted) == (101, 50, 50)
    assert medusa[0].accepted_histogram == (0, 50)
    assert (medusa[-1].outcome, medusa[-1].reason) == ("failed", "other")
    assert submission.arms[1].method == OtherMethod(name="medusa")
    assert submission.settings.sampling == "greedy"


def test_files_of_the_same_arm_repeat_it() -> None:
    off = SAMPLES / "mtp-bench-off.json"
    on = SAMPLES / "mtp-bench-on.json"
    files = [given(off, "baseline"), given(on, "mtp"), given(off, "baseline"), given(on, "mtp")]

    submission = run("mtp-bench", files, ALL["mtp-bench"].facts).submissions[0]

    assert [arm.id for arm in submission.arms] == ["baseline", "mtp"]
    assert submission.design.blocks == 2
    assert len(submission.trials) == 12


def test_an_argument_may_name_its_arm() -> None:
    assert arm_and_path("MTP-n3=dir/on.json") == ("mtp-n3", "dir/on.json")
    assert arm_and_path("dir/on=off.json") == (None, "dir/on=off.json")


def test_a_baseline_that_drafted_is_refused() -> None:
    files = [given(SAMPLES / name) for name in reversed(ALL["mtp-bench"].files)]

    with pytest.raises(BadInputError, match="180 tokens drafted, but this file is the baseline"):
        run("mtp-bench", files, ALL["mtp-bench"].facts)


def test_a_category_may_be_told() -> None:
    files = [given(SAMPLES / name) for name in ALL["speed-bench"].files]

    done = run("speed-bench", files, ALL["speed-bench"].facts | {"task.stem": "reasoning"})

    tasks = {prompt.id: prompt.task for prompt in done.submissions[0].suite.prompts}
    assert tasks == {"q1": "code", "q2": "code", "q3": "creative", "q4": "reasoning"}


def test_more_prompts_than_a_result_holds_become_several_results() -> None:
    def many(value: dict[str, Any]) -> None:
        row = value["results"][0]
        value["results"] = [
            row | {"id": f"{category}{number}", "category": category}
            for category in ("coding", "math")
            for number in range(300)
        ]

    files = [changed(name, many) for name in ALL["speed-bench"].files]

    done = run("speed-bench", files, ALL["speed-bench"].facts)

    assert [len(each.suite.prompts) for each in done.submissions] == [300, 300]
    assert [each.suite.prompts[0].task for each in done.submissions] == ["code", "math"]


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert (SAMPLES / "inventivehq.json").read_bytes().startswith(b"\xef\xbb\xbf")
    assert len(imported("inventivehq").submissions) == 3


@pytest.mark.parametrize("form", IMPORTERS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01",
        b"[1]",
        b"{",
        b"null",
        b'{"runs": 3}',
        b'{"results": [{"id": 1}]}',
        b"[" * 5000,
    ],
)
def test_a_foreign_or_broken_file_gets_one_line_with_its_name(form: str, data: bytes) -> None:
    broken = Given(name="broken.json", data=data)

    with pytest.raises(BadInputError) as caught:
        run(form, [broken], ALL[form].facts)

    assert "\n" not in str(caught.value)
    assert "broken.json" in str(caught.value) or "nothing is left to import" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "form", "change", "said"),
    [
        (
            "mtp-bench-on.json",
            "mtp-bench",
            lambda v: v["requests"][1].update(predicted_n="many"),
            'mtp-bench-on.json: $.requests[1].predicted_n is "many", expected a whole number',
        ),
        (
            "speed-bench-spec.json",
            "speed-bench",
            lambda v: v["results"][0].update(predicted_ms=-1),
            "speed-bench-spec.json: $.results[0].predicted_ms is -1, expected a number from 0",
        ),
        (
            "speed-bench-spec.json",
            "speed-bench",
            lambda v: v["config"].update(bench="throughput_1k"),
            "the same bench in all files",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    name: str,
    form: str,
    change: Any,  # noqa: ANN401 - a function that edits JSON
    said: str,
) -> None:
    files = [given(SAMPLES / ALL[form].files[0]), changed(name, change)]

    with pytest.raises(BadInputError) as caught:
        run(form, files, ALL[form].facts)

    assert said in str(caught.value)


def test_a_record_without_time_is_left_out_and_listed() -> None:
    def blank(value: dict[str, Any]) -> None:
        value["requests"][0].update(predicted_per_second=None)

    files = [given(SAMPLES / "mtp-bench-off.json"), changed("mtp-bench-on.json", blank)]

    done = run("mtp-bench", files, ALL["mtp-bench"].facts)

    assert len(done.submissions[0].trials) == 5
    assert (
        "a record without both tokens and time (mtp-bench-on.json: $.requests[0])" in done.left_out
    )
