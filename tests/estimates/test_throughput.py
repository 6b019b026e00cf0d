"""Throughput counts all tokens of the requests that are in flight together."""

from dataclasses import replace

import pytest

from estimates.summary import summarize
from estimates.throughput import throughput
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Prompt, Submission, Trial
from tests.samples import sample

ALONE = Arm(id="baseline", role="baseline", method=NO_SPECULATION, outcome="ok")
CROWD = replace(ALONE, id="baseline-c2", concurrency=2)
DRAFTS = Arm(
    id="draft-model-n4-c2",
    role="speculation",
    method=Method(type="draft-model", draft="tiny-q8-0", n_max=4),
    baseline="baseline-c2",
    concurrency=2,
    outcome="ok",
)


def trial(arm: Arm, prompt: int, *, started: float | None, wall: float, block: int = 0) -> Trial:
    """A trial of 11 tokens; the first takes 100 ms, the others share the rest of the time."""
    return Trial(
        arm=arm.id,
        prompt=f"p{prompt}",
        block=block,
        order=0,
        outcome="ok",
        output_tokens=11,
        decode_ms=wall - 100,
        started_ms=started,
        wall_ms=wall,
    )


def pass_of_three(arm: Arm, *, wall: float, block: int = 0) -> tuple[Trial, ...]:
    """Three requests, two at a time: the third begins when one of the first two ends."""
    return (
        trial(arm, 1, started=0, wall=wall, block=block),
        trial(arm, 2, started=0, wall=wall, block=block),
        trial(arm, 3, started=wall, wall=wall, block=block),
    )


def campaign(arms: tuple[Arm, ...], *trials: Trial) -> Submission:
    """These trials of these arms over three prompts."""
    plain = sample()
    prompts = tuple(Prompt(id=f"p{number}", task="code") for number in (1, 2, 3))
    suite = replace(plain.suite, prompts=prompts)
    return replace(plain, arms=arms, suite=suite, trials=trials)


def test_a_campaign_of_single_requests_has_nothing_to_say_about_the_total() -> None:
    assert throughput(sample()) == ()


def test_the_total_is_the_output_of_a_pass_over_its_duration() -> None:
    found = throughput(campaign((CROWD,), *pass_of_three(CROWD, wall=600)))

    # 33 tokens in 1200 ms; one stream makes 10 tokens in 500 ms.
    assert [(each.concurrency, each.passes) for each in found] == [(2, 1)]
    assert found[0].total_tps == pytest.approx(27.5)
    assert found[0].stream_tps == pytest.approx(20.0)
    assert found[0].total_speedup is None


def test_one_request_at_a_time_takes_the_sum_of_their_times() -> None:
    alone = tuple(trial(ALONE, number, started=None, wall=300) for number in (1, 2, 3))
    found = throughput(campaign((ALONE, CROWD), *alone, *pass_of_three(CROWD, wall=600)))

    # 33 tokens in 900 ms.
    assert found[0].total_tps == pytest.approx(33 / 0.9)


def test_a_speedup_of_the_total_is_paired_by_block() -> None:
    trials = (
        *pass_of_three(CROWD, wall=600, block=0),
        *pass_of_three(DRAFTS, wall=750, block=0),
        *pass_of_three(CROWD, wall=1200, block=1),
        *pass_of_three(DRAFTS, wall=1500, block=1),
    )
    found = {each.arm: each for each in throughput(campaign((CROWD, DRAFTS), *trials))}

    # The machine halved its speed between the blocks; within each the ratio is 600 / 750.
    assert found["draft-model-n4-c2"].total_speedup == pytest.approx(0.8)
    interval = found["draft-model-n4-c2"].interval
    assert interval is not None
    assert interval.low == pytest.approx(0.8)
    assert interval.high == pytest.approx(0.8)


def test_totals_are_compared_by_the_time_of_all_passes() -> None:
    # Passes of 1,200 and 2,400 ms against 2,400 and 1,600 ms: 3,600 / 4,000. The geometric mean of
    # 1/2 and 3/2 would be 0.87.
    trials = (
        *pass_of_three(CROWD, wall=600, block=0),
        *pass_of_three(DRAFTS, wall=1200, block=0),
        *pass_of_three(CROWD, wall=1200, block=1),
        *pass_of_three(DRAFTS, wall=800, block=1),
    )

    found = {each.arm: each for each in throughput(campaign((CROWD, DRAFTS), *trials))}

    assert found[DRAFTS.id].total_speedup == pytest.approx(0.9)


def test_the_printed_totals_divide_whatever_passes_are_missing() -> None:
    # The arm lacks the second pass, so that the baseline's does not count: 33 tokens in 1,200 ms
    # and in 1,500 ms.
    trials = (
        *pass_of_three(CROWD, wall=600, block=0),
        *pass_of_three(DRAFTS, wall=750, block=0),
        *pass_of_three(CROWD, wall=6000, block=1),
        *pass_of_three(DRAFTS, wall=750, block=1)[:2],
    )

    found = {each.arm: each for each in throughput(campaign((CROWD, DRAFTS), *trials))}

    assert found[CROWD.id].total_tps == pytest.approx(27.5)
    assert found[DRAFTS.id].total_tps == pytest.approx(22.0)
    assert found[DRAFTS.id].total_speedup == pytest.approx(22.0 / 27.5)
    assert found[DRAFTS.id].passes == 1


def test_a_pass_that_lacks_a_prompt_does_not_count() -> None:
    first, second, _third = pass_of_three(DRAFTS, wall=750)
    found = throughput(campaign((CROWD, DRAFTS), *pass_of_three(CROWD, wall=600), first, second))

    assert [each.arm for each in found] == ["baseline-c2"]


def test_a_pass_that_a_resumption_cut_in_two_does_not_count() -> None:
    first, second, third = pass_of_three(CROWD, wall=600)
    found = throughput(campaign((CROWD,), first, second, replace(third, started_ms=0.5)))

    assert found == ()


def test_probes_of_a_single_stream_predict_nothing_for_concurrent_requests() -> None:
    plain = sample()
    arms = tuple(replace(arm, concurrency=4) for arm in plain.arms)

    alone = summarize(plain).estimates
    crowded = summarize(replace(plain, arms=arms)).estimates

    assert any(each.predicted_speedup is not None for each in alone)
    assert all(each.predicted_speedup is None for each in crowded)
