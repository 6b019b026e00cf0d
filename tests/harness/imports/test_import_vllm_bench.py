"""The requests of `vllm bench serve --save-detailed` are read and paired as they were sent."""

from typing import Any

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.imports.source_files import Given
from tests.harness.imports.samples import FACTS, file, run

DRAFTED = FACTS | {"method": "eagle3", "sampling": "greedy"}


def served(itls: list[list[float]], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A file of `vllm bench serve --save-detailed`, with 11 tokens for each request."""
    count = len(itls)
    return {
        "date": "20260517-093000",
        "model_id": "some/Sample-8B",
        "num_prompts": count,
        "request_rate": "inf",
        "max_concurrency": 1,
        "request_throughput": 1.0,
        "input_lens": [20 + number for number in range(count)],
        "output_lens": [11] * count,
        "ttfts": [0.05] * count,
        "itls": itls,
        "errors": [""] * count,
    } | more


def test_requests_of_vllm_bench_serve_are_paired_by_their_place() -> None:
    base = served([[0.1] * 10, [0.2] * 10, []], errors=["", "", "Traceback: timed out"])
    # Fewer chunks, as drafts come in one: 0.5 s and 0.25 s in place of 1 s and 2 s.
    spec = served([[0.25] * 2, [0.05] * 5, [0.1]], spec_decode_num_drafts=7)
    facts = {key: FACTS[key] for key in ("quantisation", "backend", "gpu")}

    both = [file("base.json", base), file("spec.json", spec)]
    done = run("vllm", both, facts | {"method": "eagle3", "sampling": "greedy"})

    (submission,) = done.submissions
    estimates = {each.task: each.speedup for each in summarize(submission).estimates}
    assert estimates["other"] == pytest.approx(4.0)  # the square root of 2 · 8
    assert submission.target.name == "Sample-8B"
    assert submission.measured_from == "2026-05-17T00:00:00Z"
    assert [t.reason for t in submission.trials if t.outcome == "failed"] == ["timed-out"]
    counters, unsaved = done.left_out
    assert counters == (
        "spec.json: the counters of speculation, because the tool sums them over all requests"
    )
    assert "state it with --map dataset=…" in unsaved
    assert submission.suite.id == "vllm-unknown-data-set"


def test_the_data_set_of_a_benchmark_is_that_of_the_suite() -> None:
    both = [file("base", served([[0.1] * 10])), file("spec", served([[0.05] * 10]))]

    (submission,) = run("vllm", both, DRAFTED | {"dataset": "ShareGPT"}).submissions

    assert submission.suite.id == "vllm-sharegpt"


def test_requests_at_a_rate_say_no_concurrency_and_it_is_asked_for() -> None:
    paced = [file("base.json", served([[0.1] * 10], request_rate=2.0, max_concurrency=None))]

    with pytest.raises(BadInputError, match="concurrency=…"):
        run("vllm", paced, FACTS | {"sampling": "greedy"})

    done = run("vllm", paced, FACTS | {"sampling": "greedy", "concurrency": "3"})
    assert done.submissions[0].arms[0].concurrency == 3


def test_all_requests_at_once_are_that_many_in_flight() -> None:
    at_once = file("base.json", served([[0.1] * 10] * 2, max_concurrency=None))

    done = run("vllm", [at_once], FACTS | {"sampling": "greedy"})

    assert done.submissions[0].arms[0].concurrency == 2


def test_runs_with_different_concurrency_become_separate_results() -> None:
    def runs(name: str, alone: float, crowded: float) -> Given:
        return file(name, served([[alone] * 10]), served([[crowded] * 10], max_concurrency=8))

    done = run("vllm", [runs("base", 0.1, 0.2), runs("spec", 0.05, 0.4)], DRAFTED)

    found = {
        submission.arms[0].concurrency or 1: summarize(submission).estimates[0].speedup
        for submission in done.submissions
    }
    assert found == pytest.approx({1: 2.0, 8: 0.5})


def test_the_bench_of_sglang_writes_the_same_lists() -> None:
    def bench(name: str, itls: list[list[float]], **more: Any) -> Given:  # noqa: ANN401 - JSON
        row = served(itls, backend="sglang-oai", completed=len(itls), request_rate=float("inf"))
        left = {key: value for key, value in row.items() if key not in ("num_prompts", "model_id")}
        return file(name, left | {"max_concurrency": None} | more)

    base = bench("base.jsonl", [[0.1] * 10, [0.2] * 10])
    spec = bench("spec.jsonl", [[0.25] * 2, [0.05] * 5], accept_length=3.1)
    done = run("vllm", [base, spec], DRAFTED)

    (submission,) = done.submissions
    assert submission.engine.name == "SGLang"
    assert submission.arms[0].concurrency == 2  # all at once
    assert summarize(submission).estimates[0].speedup == pytest.approx(4.0)
    assert "spec.jsonl: the counters of speculation" in done.left_out[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"itls": None}, "itls is missing, expected a list"),
        (
            {"ttfts": []},
            "ttfts is a list (entries: 0), expected a list of 1, one entry per request",
        ),
        ({"itls": [["soon"]]}, '$.itls[0][0] is "soon", expected a number of at least 0'),
    ],
)
def test_a_wrong_list_of_vllm_bench_serve_is_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError) as caught:
        run("vllm", [file("base.json", served([[0.1]]) | change)], FACTS)

    assert said in str(caught.value)


def test_vllm_bench_serve_without_details_says_which_option_it_needs() -> None:
    summary = served([[0.1]])
    for key in ("input_lens", "output_lens", "ttfts", "itls", "errors"):
        del summary[key]

    with pytest.raises(BadInputError, match="run vllm bench serve with --save-detailed"):
        run("vllm", [file("base.json", summary)], FACTS)
