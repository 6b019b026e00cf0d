"""What do the importers of llama-server, llama-spec-bench and qwen38-specdec keep and leave out?"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.importers.model import Given, given
from harness.importers.mtp_bench import method_of
from schemas.method import Mtp
from schemas.submission import OtherMethod, Submission
from tests.harness.imports import ALL, FACTS, SAMPLES, changed, imported, one, run
from tests.pipeline.test_slower_reading import PLAIN_RUN, SPECULATIVE


def specdec(change: Any = lambda _: None) -> tuple[Submission, ...]:  # noqa: ANN401 - edits JSON
    file = changed("qwen38-specdec.json", change)
    return run("qwen38-specdec", [file], {"backend": "cuda"}).submissions


def test_each_tree_of_a_specdec_file_has_its_own_baseline() -> None:
    main, fork = specdec()

    assert [arm.id for arm in main.arms] == ["baseline", "mtp2"]
    assert [arm.id for arm in fork.arms] == ["baseline", "mtp3_fork"]
    assert main.arms[1].method == Mtp(n_max=2)
    assert (main.engine.commit, main.engine.build_number) == ("ece963f41", 10450)
    assert (fork.engine.commit, fork.engine.build_number) == ("fca3093c9", None)


def test_a_specdec_file_keeps_checksum_settings_energy_and_hashes() -> None:
    main, _ = specdec()
    settings, prompts = main.settings, summarize(main).prompts

    assert main.target.sha256 == "0123456789abcdef" * 4
    assert (main.target.name, main.target.quantisation) == ("Sample-27B", "Q4_K_M")
    assert (settings.context_tokens, settings.kv_type_k, settings.flash_attention) == (
        8192,
        "q8_0",
        "on",
    )
    assert (settings.sampling, settings.thinking, settings.energy_method) == (
        "greedy",
        False,
        "nvml",
    )
    assert main.trials[0].energy_j == 200
    assert {each.prompt: each.exactness for each in prompts} == {
        "code_a": "identical",
        "prose_a": "diverged",
    }
    assert (main.machine.gpus[0].vram_mib, main.machine.gpus[0].driver) == (24576, "610.43.03")
    assert main.measured_from.startswith("2026-08-20")
    assert "somebody" not in repr(main)


def test_interleaved_passes_are_no_reason_to_doubt_a_specdec_file() -> None:
    def apart(value: dict[str, Any]) -> None:
        value["design"]["interleaved"] = False

    names = [
        {flag.name for flag in summarize(found[0]).flags} for found in (specdec(), specdec(apart))
    ]

    assert ["not-interleaved" in each for each in names] == [False, True]


def test_answers_with_and_without_thinking_are_results_of_their_own() -> None:
    def think(value: dict[str, Any]) -> None:
        for row in value["records"]:
            row["think"] = row["pass"] == 2

    found = specdec(think)

    assert [each.settings.thinking for each in found] == [False, False, True, True]
    assert {each.design.blocks for each in found} == {1}


def test_arms_without_a_baseline_at_their_temperature_are_left_out() -> None:
    def warm(value: dict[str, Any]) -> None:
        for row in value["records"]:
            row["temperature"] = 0.6 if row["arm"] == "mtp3_fork" else 0

    file = changed("qwen38-specdec.json", warm)
    done = run("qwen38-specdec", [file], {"backend": "cuda"})

    assert [arm.id for each in done.submissions for arm in each.arms] == [
        "baseline",
        "mtp2",
        "baseline",
    ]
    assert any("mtp3_fork: no baseline at these settings" in line for line in done.left_out)


def test_another_schema_is_refused_by_name() -> None:
    def other(value: dict[str, Any]) -> None:
        value["schema"] = "qwen38-specdec/2"

    with pytest.raises(BadInputError, match="qwen38-specdec/1"):
        specdec(other)


def test_a_table_of_spec_bench_gives_counters_failures_and_methods() -> None:
    submission = one("llama-spec-bench")
    code = [t for t in submission.trials if t.arm != "baseline" and t.prompt == "code"]
    story = [t for t in submission.trials if t.arm != "baseline" and t.prompt == "story"]

    assert submission.arms[1].method == Mtp()
    # 101 tokens are the first, 50 accepted and 50 rounds.
    assert [(t.drafted, t.accepted, t.rounds) for t in code] == [(100, 50, 50), (80, 60, 40)]
    assert [t.outcome for t in story] == ["ok", "failed"]
    assert [p.task for p in submission.suite.prompts] == ["code", "creative"]


def spec_bench_lines(*stages: dict[str, Any], seconds: float) -> bytes:
    row = {
        "row_type": "attempt", "task": "code", "run": 1, "ok": True, "stop": "limit",
        "generated": 101, "decode_s": seconds, "decode_tps": 101 / seconds, "stages": [*stages],
        "error": None,
    }  # fmt: skip
    return f"{json.dumps(row)}\n{json.dumps({'row_type': 'summary', 'attempts': 1})}\n".encode()


BASE_TABLE, MTP_TABLE = (
    (SAMPLES / f"llama-spec-bench-{name}.txt").read_text("utf-8") for name in ("base", "mtp")
)


def of_tables(base: str, mtp: str) -> list[tuple[int | None, int | None]]:
    """Drafted and accepted tokens of the second arm."""
    files = [Given(name=name, data=each.encode()) for name, each in (("a", base), ("b", mtp))]
    (found,) = run("llama-spec-bench", files, ALL["llama-spec-bench"].facts).submissions
    return [(trial.drafted, trial.accepted) for trial in found.trials if trial.arm != "baseline"]


@pytest.mark.parametrize(
    "written",
    [
        lambda text: text.replace("|      - |", "|      \N{EM DASH} |"),
        lambda text: text.replace("50/100", "50 / 100").replace("60/80", "60 /  80"),
        lambda text: text.replace("| task ", "| Task ").replace("time(s)", "Time (s)"),
        lambda text: text.replace("\n|", "\n2026-08-15T10:00:00 |"),
        lambda text: text.replace("\n|", "\n   |").replace("\n", "\r\n"),
    ],
)
def test_a_table_is_read_however_it_was_copied(written: Callable[[str], str]) -> None:
    expected = of_tables(BASE_TABLE, MTP_TABLE)

    assert expected[:2] == [(100, 50), (80, 60)]
    assert of_tables(written(BASE_TABLE), written(MTP_TABLE)) == expected


@pytest.mark.parametrize(("cell", "other"), [("50/100", "50 of 100"), ("   101 |", "  1.0k |")])
def test_a_cell_that_is_no_figure_is_refused_by_its_line(cell: str, other: str) -> None:
    with pytest.raises(BadInputError, match="line 4: "):
        of_tables(BASE_TABLE, MTP_TABLE.replace(cell, other, 1))


def test_every_card_of_a_specdec_file_counts() -> None:
    def twice(value: dict[str, Any]) -> None:
        value["env"]["gpu"] = "\n".join([value["env"]["gpu"]] * 2)

    found = specdec(twice)[0]

    assert [gpu.name for gpu in found.machine.gpus] == ["NVIDIA GeForce RTX 3090"] * 2


def test_the_stages_of_a_chain_are_one_method_of_one_generation() -> None:
    ngram = {"type": "ngram_mod", "drafts": 10, "draft_tokens": 40, "accepted": 30}
    mtp = {"type": "mtp", "drafts": 20, "draft_tokens": 40, "accepted": 20}
    files = [
        Given(name="base.jsonl", data=spec_bench_lines(seconds=4.0)),
        Given(name="chain.jsonl", data=spec_bench_lines(ngram, mtp, seconds=2.0)),
    ]

    (found,) = run("llama-spec-bench", files, ALL["llama-spec-bench"].facts).submissions

    trial = found.trials[1]
    assert found.arms[1].method == OtherMethod(name="ngram-mod+mtp", chain=("ngram-mod", "mtp"))
    assert (trial.drafted, trial.accepted, trial.rounds) == (80, 50, 50)


@pytest.mark.parametrize(
    ("flags", "method"),
    [
        ("--spec-type draft-mtp --spec-draft-n-max 3", "mtp:n_max=3"),
        ("--spec-type draft-mtp --spec-draft-p-min 0.75", "mtp:p_min=0.75"),
        ("--spec-type draft-mtp --spec-draft-p-min 0", "mtp"),
        ("--spec-autotune --spec-type ngram-mod", "ngram-mod:controller=autotune"),
        (
            "--spec-type ngram-mod,draft-mtp",
            "other:name=ngram-mod+mtp,chain=ngram-mod+mtp",
        ),
        ("--spec-type ngram-mod,unheard-of", None),
        ("-md small.gguf", None),
    ],
)
def test_the_method_of_a_servers_flags_says_what_varies_its_depth(
    flags: str, method: str | None
) -> None:
    assert method_of(flags) == method


def test_a_log_of_llama_server_gives_build_model_method_and_counters() -> None:
    submission = one("llama-server")
    off, on = submission.trials[:2], submission.trials[2:]

    assert (submission.engine.build_number, submission.engine.commit) == (10450, "ece963f41")
    assert submission.arms[1].method == Mtp()
    assert [(t.drafted, t.accepted) for t in off] == [(None, None)] * 2
    assert [(t.drafted, t.accepted, t.rounds) for t in on] == [(100, 50, 50), (80, 60, 40)]
    assert [p.tokens for p in submission.suite.prompts] == [50, 60]
    assert on[0].prompt_ms == 110
    assert any("statistics lines" in line for line in imported("llama-server").left_out)


@pytest.mark.parametrize("older", ["draft acceptance rate =", "draft acceptance ="])
def test_older_builds_call_it_an_acceptance_rate(older: str) -> None:
    off, on = (given(SAMPLES / name) for name in ALL["llama-server"].files)
    renamed = on.data.replace(b"draft acceptance =", older.encode()).replace(b", mean len", b" ;")

    (found,) = run(
        "llama-server", [off, Given(name="on.log", data=renamed)], ALL["llama-server"].facts
    ).submissions

    assert [t.accepted for t in found.trials if t.arm != "baseline"] == [50, 60]


def test_llama_cli_and_llama_speculative_count_steps_and_not_tokens() -> None:
    files = [
        Given(name="off.log", data=PLAIN_RUN.encode()),
        Given(name="on.log", data=SPECULATIVE.encode()),
    ]
    facts = FACTS | {"method": "mtp:n_max=4", "sampling": "greedy"}

    (found,) = run("llama-server", files, facts).submissions

    off, on = found.trials
    assert (off.output_tokens, off.decode_ms) == (101, 1000.0)
    # One step from before the first token: 101 steps, of which 31 rounds and 70 accepted tokens.
    assert (on.output_tokens, on.decode_ms, on.rounds) == (102, 500.0, 31)
    assert [each.speedup for each in summarize(found).estimates if each.task == "other"] == [
        pytest.approx(2.02)
    ]


def answer(ms: float, **drafts: int) -> dict[str, Any]:
    timings = {"cache_n": 10, "prompt_n": 40, "prompt_ms": 100.0, "predicted_n": 101}
    rate = {"predicted_ms": ms, "predicted_per_second": 100 / ms * 1000}
    choices = [{"finish_reason": "length", "message": {"content": "left out"}}]
    print_ = "b10068-0123abcd"
    return {
        "choices": choices,
        "usage": {"completion_tokens": 101},
        "system_fingerprint": print_,
        "timings": {**timings, **rate, **drafts},
    }


def test_a_pasted_answer_with_timings_reads_like_a_log() -> None:
    files = [
        Given(name="off.json", data=json.dumps(answer(2000.0)).encode()),
        Given(
            name="on.json",
            data=json.dumps(answer(1000.0, draft_n=100, draft_n_accepted=50)).encode(),
        ),
    ]
    facts = ALL["llama-server"].facts | {"method": "mtp:n_max=2"}

    (found,) = run("llama-server", files, facts).submissions

    assert [(t.output_tokens, t.decode_ms, t.drafted) for t in found.trials] == [
        (101, 2000.0, None),
        (101, 1000.0, 100),
    ]
    assert found.suite.prompts[0].tokens == 50
    assert (found.engine.build_number, found.trials[0].finish) == (10068, "length")


def test_an_arm_that_drafted_nothing_is_flagged_and_not_unknown() -> None:
    files = [
        Given(name="off.json", data=json.dumps(answer(2000.0)).encode()),
        Given(name="on.json", data=json.dumps(answer(2001.0)).encode()),
    ]
    facts = ALL["llama-server"].facts | {"method": "mtp:n_max=2"}

    (found,) = run("llama-server", files, facts).submissions

    assert "never-drafted" in {flag.name for flag in summarize(found).flags}


def test_logs_of_other_prompts_are_not_paired() -> None:
    off, on = (given(SAMPLES / name) for name in ALL["llama-server"].files)
    other = Given(name="on.log", data=on.data.replace(b"   60 tokens (", b"   61 tokens ("))

    with pytest.raises(BadInputError, match="the same prompts in the same order"):
        run("llama-server", [off, other], ALL["llama-server"].facts)
