"""If a stream hides token times, whole requests decide or the interval widens."""

import random
from dataclasses import replace

import pytest

from estimates import client_clock
from estimates.model import Estimate
from estimates.summary import summarize
from harness.report import short_answer
from harness.report.setting_results import settings
from schemas.submission import Submission, Trial
from tests.estimates.campaigns import SPEC, campaign, trial
from tests.pipeline.tables import Example, database

PROMPTS = tuple(f"code-{number}" for number in range(1, 5))


def streamed(*, baseline: dict[str, float], spec: dict[str, float]) -> Submission:
    """Four prompts in two blocks: 11 tokens in 1000 ms after a prompt of 500 ms, unless stated."""
    given = {"decode_ms": 1000.0, "ttft_ms": 500.0, "wall_ms": 1500.0}

    def one(arm: str, fields: dict[str, float], prompt: str, block: int) -> Trial:
        chance = random.Random(f"{arm} {prompt} {block}")  # noqa: S311 - simulated noise
        noise = chance.uniform(0.998, 1.002)
        times = {name: ms * noise for name, ms in {**given, **fields}.items() if ms}
        return trial(arm, prompt, block, **times)

    trials = [
        one(arm, fields, prompt, block)
        for block in (0, 1)
        for prompt in PROMPTS
        for arm, fields in (("baseline", baseline), ("spec", spec))
    ]
    return campaign(trials, prompts=PROMPTS)


def of_code(submission: Submission) -> Estimate:
    (found,) = (each for each in summarize(submission).estimates if each.task == "code")
    return found


# By the stream the arm takes 500 ms for its tokens, by whole requests 1000 as the baseline.
CONTRADICTED = streamed(
    baseline={"one_token_ms": 500.0},
    spec={"decode_ms": 500.0, "ttft_ms": 1000.0, "one_token_ms": 500.0},
)


def test_whole_requests_that_agree_change_nothing() -> None:
    plain = streamed(baseline={}, spec={"decode_ms": 500.0, "wall_ms": 1000.0})
    checked = streamed(
        baseline={"one_token_ms": 500.0},
        spec={"decode_ms": 500.0, "wall_ms": 1000.0, "one_token_ms": 500.0},
    )

    assert of_code(checked) == of_code(plain)


def test_a_speedup_that_whole_requests_contradict_is_dropped() -> None:
    found = of_code(CONTRADICTED)

    assert (found.speedup, found.interval, found.tps) == (None, None, None)
    assert found.whole_request == pytest.approx(1.0, abs=0.003)
    assert found.verdict == "no-clear-difference"
    assert client_clock.apart(CONTRADICTED, SPEC) == pytest.approx(-0.693, abs=0.001)  # ln 0.5


def test_it_has_no_prompts_of_its_own_and_one_flag_says_why() -> None:
    summary = summarize(CONTRADICTED)

    assert summary.prompts == ()
    (flag,) = (each for each in summary.flags if each.name == client_clock.ONLY_REQUESTS)
    assert flag.severity == "caution"
    assert flag.message == (
        "The stream shows 2.00\N{MULTIPLICATION SIGN} the speedup that whole requests show (spec), "
        "so the verdict covers only whole requests."
    )


def test_without_a_known_cache_there_is_no_figure_at_all() -> None:
    hidden = replace(
        CONTRADICTED, trials=tuple(replace(each, ttft_ms=None) for each in CONTRADICTED.trials)
    )

    found = of_code(hidden)

    assert (found.whole_request, found.verdict) == (None, "uncertain")
    assert found.doubt == client_clock.ONLY_REQUESTS


def test_a_gain_of_whole_requests_is_printed_as_a_gain() -> None:
    # By the stream 4 times as fast, by whole requests 1500 / 1000.
    faster = streamed(
        baseline={"one_token_ms": 500.0},
        spec={"decode_ms": 250.0, "ttft_ms": 750.0, "wall_ms": 1000.0, "one_token_ms": 500.0},
    )
    summary = summarize(faster)
    best = settings(faster, summary)[0]
    only = replace(best, whole=of_code(faster), tasks=())

    assert of_code(faster).verdict == "helps"
    assert only.answer == "yes"
    assert short_answer.sentences(only, summary).startswith(
        "Yes. spec: Whole answers, prompt included: 1.50\N{MULTIPLICATION SIGN}"
    )


def test_grain_widens_the_interval_unless_whole_requests_bound_it() -> None:
    fine = of_code(streamed(baseline={}, spec={}))
    coarse = of_code(streamed(baseline={}, spec={"grain_ms": 200.0}))
    bound = of_code(
        streamed(baseline={"one_token_ms": 500.0}, spec={"grain_ms": 200.0, "one_token_ms": 500.0})
    )

    assert fine.interval is not None
    assert coarse.interval is not None
    assert bound.interval is not None
    assert fine.interval.log_half_width < 0.01
    assert coarse.interval.log_half_width == pytest.approx(0.2, abs=0.01)  # 200 of 1000 ms
    # Two requests differ by 10 ms until an answer begins: the root of 2 times 1 %.
    assert bound.interval.log_half_width == pytest.approx(0.014, abs=0.003)


def test_a_short_answer_keeps_a_figure_that_whole_requests_allow() -> None:
    # All take 8 ms; by the stream the arm takes half. Less than 10 ms apart is not a contradiction.
    short = {"decode_ms": 8.0, "ttft_ms": 2.0, "wall_ms": 10.0, "one_token_ms": 2.0}
    halved, equal = (
        of_code(replace(each, target=replace(each.target, file_bytes=1_000_000)))  # so fast
        for each in (
            streamed(baseline=short, spec={**short, "decode_ms": 4.0, "ttft_ms": 6.0}),
            streamed(baseline=short, spec=short),
        )
    )

    assert halved.interval is not None
    assert halved.interval.low == pytest.approx(1.0, abs=0.02)
    assert halved.verdict == "no-clear-difference"
    assert equal.interval is not None
    assert equal.interval.log_half_width < 0.02


def test_such_a_figure_is_in_no_cell() -> None:
    connection = database(Example(submission=CONTRADICTED, summary=summarize(CONTRADICTED)))

    (evidence,) = connection.sql(
        "select whole_request from evidence where task = 'code' and role = 'speculation'"
    ).fetchall()
    assert evidence[0] == pytest.approx(1.0, abs=0.003)
    for table in ("pool_member", "cell", "best", "prompt_estimate"):
        connection.make(table)  # type: ignore[attr-defined]  # tables are made when they are asked for
        assert connection.table(table).fetchall() == []
