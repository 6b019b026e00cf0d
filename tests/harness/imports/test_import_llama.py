"""The importers of llama-server and llama-spec-bench keep and omit the right data."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.imports.arm_methods import method_of
from harness.imports.assemble import Imported
from harness.imports.source_files import Given
from schemas.method import Method
from tests.harness.imports.samples import ALL, SAMPLES, file, files, imported, one, run
from tests.pipeline.test_slower_reading import PLAIN_RUN, SPECULATIVE


def test_a_table_of_spec_bench_gives_counters_failures_and_methods() -> None:
    submission = one("llama-spec-bench")
    code = [t for t in submission.trials if t.arm != "baseline" and t.prompt == "code"]
    story = [t for t in submission.trials if t.arm != "baseline" and t.prompt == "story"]

    assert submission.arms[1].method == Method(type="mtp")
    # 101 tokens are the first, 50 accepted and 50 rounds.
    assert [(t.drafted, t.accepted, t.rounds) for t in code] == [(100, 50, 50), (80, 60, 40)]
    assert [t.outcome for t in story] == ["ok", "failed"]
    assert [p.task for p in submission.suite.prompts] == ["code", "creative"]


BASE_TABLE, MTP_TABLE = (
    (SAMPLES / f"llama-spec-bench-{name}.txt").read_text("utf-8") for name in ("base", "mtp")
)


def tables(*contents: str) -> Imported:
    named = [file(f"{at}.txt", each) for at, each in enumerate(contents)]
    return run("llama-spec-bench", named, ALL["llama-spec-bench"].facts)


def of_tables(base: str, mtp: str) -> list[tuple[int | None, int | None]]:
    """Import two tables; return drafted and accepted tokens of the second arm."""
    (found,) = tables(base, mtp).submissions
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
def test_a_table_cell_that_is_not_a_number_is_refused_with_its_line(cell: str, other: str) -> None:
    with pytest.raises(BadInputError, match="line 4: "):
        of_tables(BASE_TABLE, MTP_TABLE.replace(cell, other, 1))


def test_the_stages_of_a_chain_are_one_method_of_one_generation() -> None:
    head = "| task | run | stage | tokens | stop | time(s) | rounds | accepted |\n"
    base = "| code | 1 | base | 101 | limit | 4.000 | - | - |\n"
    chain = (
        "| code | 1 | ngram_mod | 101 | limit | 2.000 | 10 | 30/40 |\n"
        "| code | 1 | mtp | 101 | limit | 2.000 | 20 | 20/40 |\n"
    )

    (found,) = tables(head + base, head + chain).submissions

    trial = found.trials[1]
    assert found.arms[1].method == Method(
        type="other", name="ngram-mod+mtp", chain=("ngram-mod", "mtp")
    )
    assert (trial.drafted, trial.accepted, trial.rounds) == (80, 50, 50)


@pytest.mark.parametrize(
    ("types", "method"),
    [
        (["draft-mtp"], "mtp"),
        (["draft_mtp"], "mtp"),
        (["ngram-mod", "draft-mtp"], "other:name=ngram-mod+mtp,chain=ngram-mod+mtp"),
        (["ngram-mod", "unheard-of"], None),
        ([], None),
    ],
)
def test_several_types_are_a_chain_and_an_unknown_one_is_not_a_method(
    types: list[str], method: str | None
) -> None:
    assert method_of(types) == method


def test_a_log_of_llama_server_gives_build_model_method_and_counters() -> None:
    submission = one("llama-server")
    off, on = submission.trials[:2], submission.trials[2:]

    assert (submission.engine.build_number, submission.engine.commit) == (10450, "ece963f41")
    assert submission.arms[1].method == Method(type="mtp")
    assert [(t.drafted, t.accepted) for t in off] == [(None, None)] * 2
    assert [(t.drafted, t.accepted, t.rounds) for t in on] == [(100, 50, 50), (80, 60, 40)]
    assert [p.tokens for p in submission.suite.prompts] == [50, 60]
    assert on[0].prompt_ms == 110
    assert any("statistics lines" in line for line in imported("llama-server").left_out)


def of_logs(off: Given, on: Given, **facts: str) -> Imported:
    return run("llama-server", [off, on], ALL["llama-server"].facts | facts)


@pytest.mark.parametrize("older", ["draft acceptance rate =", "draft acceptance ="])
def test_older_builds_call_it_an_acceptance_rate(older: str) -> None:
    off, on = files("llama-server")
    renamed = on.data.replace(b"draft acceptance =", older.encode()).replace(b", mean len", b" ;")

    (found,) = of_logs(off, replace(on, data=renamed)).submissions

    assert [t.accepted for t in found.trials if t.arm != "baseline"] == [50, 60]


def test_llama_cli_and_llama_speculative_count_steps_and_not_tokens() -> None:
    logs = (file("off.log", PLAIN_RUN), file("on.log", SPECULATIVE))

    (found,) = of_logs(*logs, method="mtp:n_max=4").submissions

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


def of_answers(off: dict[str, Any], on: dict[str, Any]) -> Imported:
    return of_logs(file("off.json", off), file("on.json", on), method="mtp:n_max=3")


def test_a_pasted_answer_with_timings_reads_like_a_log() -> None:
    drafted = answer(1000.0, draft_n=100, draft_n_accepted=50)

    (found,) = of_answers(answer(2000.0), drafted).submissions

    assert [(t.output_tokens, t.decode_ms, t.drafted) for t in found.trials] == [
        (101, 2000.0, None),
        (101, 1000.0, 100),
    ]
    assert found.suite.prompts[0].tokens == 50
    assert (found.engine.build_number, found.trials[0].finish) == (10068, "length")


def test_an_arm_that_drafted_nothing_is_flagged_and_not_unknown() -> None:
    (found,) = of_answers(answer(2000.0), answer(2001.0)).submissions

    assert "never-drafted" in {flag.name for flag in summarize(found).flags}


FEW_ROUNDS = "too few rounds for drafts of at most 3 tokens"
NO_TIME = "a record without tokens or without a time"


@pytest.mark.parametrize(
    ("change", "counts", "said"),
    [
        # 101 tokens less 75 accepted and the first leave 25 rounds, too few for 90 drafts of 3.
        ({"draft_n": 90, "draft_n_accepted": 75}, [(90, 75, None)], FEW_ROUNDS),
        ({"draft_n": 40, "draft_n_accepted": 50}, [(None,) * 3], "more accepted than drafted"),
        ({"predicted_ms": 0, "predicted_per_second": None}, [], NO_TIME),
        ({"predicted_ms": 1e-9, "predicted_per_second": None}, [], NO_TIME),
    ],
)
def test_contradictory_figures_are_left_out_and_listed(
    change: dict[str, Any], counts: list[tuple[int | None, ...]], said: str
) -> None:
    on = answer(1000.0)
    on["timings"] |= change

    done = of_answers(answer(2000.0), on)

    trials = done.submissions[0].trials[1:]
    assert [(trial.drafted, trial.accepted, trial.rounds) for trial in trials] == counts
    assert any(said in line and line.endswith("(on.json: $)") for line in done.left_out)


def test_a_baseline_without_time_is_refused_and_says_why() -> None:
    off = answer(2000.0)
    off["timings"] |= {"predicted_ms": None, "predicted_per_second": None}

    with pytest.raises(BadInputError, match=r"nothing to compare; .*a record without tokens"):
        of_answers(off, answer(1000.0))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"predicted_per_second": 1e-308}, "without tokens or without a time"),
        ({"predicted_per_second": 1e-11}, "times add up to 2e+16 ms; at least one time is wrong"),
        ({"predicted_n": 10**16}, "off.json: $.timings.predicted_n is 10000000000000000, expected"),
    ],
)
def test_a_figure_beyond_all_measure_is_named(change: dict[str, Any], said: str) -> None:
    off = answer(2000.0)
    off["timings"] |= {"predicted_n": 192, "predicted_ms": None} | change

    with pytest.raises(BadInputError) as caught:
        of_answers(off, answer(1000.0))

    assert said in str(caught.value)


def test_logs_with_different_prompts_are_not_paired() -> None:
    off, on = files("llama-server")
    other = replace(on, data=on.data.replace(b"   60 tokens (", b"   61 tokens ("))

    with pytest.raises(BadInputError, match="the same prompts in the same order"):
        of_logs(off, other)


def step(width: int, milliseconds: float) -> dict[str, Any]:
    """A test of llama-bench: `-p width -n 0`, or `-n 128` for a width of 0."""
    tokens = {"n_prompt": width, "n_gen": 0} if width else {"n_prompt": 0, "n_gen": 128}
    samples = [milliseconds * 1e6, (milliseconds + 0.2) * 1e6, (milliseconds + 9) * 1e6]
    names = {"model_filename": "Qwen3-8B-Q4_K_M.gguf", "backends": "CUDA", "gpu_info": "RTX 3090"}
    return {**names, **tokens, "avg_ts": 1.0, "samples_ns": samples}


def test_steps_of_llama_bench_are_a_verification_curve() -> None:
    rows = [step(0, 1280.0), step(512, 300.0), step(4, 12.8), step(1, 9.8), step(16, 29.8)]
    curve_only = [step(2, 10.8), step(1, 9.8)]
    facts = {"date": "2026-08-15"}

    whole, alone = (run("llama-bench", [file("b", each)], facts) for each in (rows, curve_only))

    probe = whole.submissions[0].probes
    assert probe is not None
    assert probe.verification is not None
    assert (probe.verification.widths, probe.verification.repeats) == ((1, 4, 16), 3)
    assert probe.verification.step_ms_median == (10.0, 13.0, 30.0)
    assert [trial.output_tokens for trial in whole.submissions[0].trials] == [129] * 3
    # Without a test of generation a step of one token is the plain decoding.
    assert [trial.decode_ms for trial in alone.submissions[0].trials] == [9.8, 10.0, 18.8]
    assert any("processes a prompt" in line for line in whole.left_out)
