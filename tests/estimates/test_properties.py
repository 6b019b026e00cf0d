"""Estimates keep their properties for any measurements."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimates.decomposition import expected_tokens, position_acceptance
from estimates.intervals import t_interval
from estimates.pairing import pair
from estimates.reasons import reason
from estimates.summary import summarize
from schemas.codec import encode
from tests.estimates.campaigns import BASELINE, SPEC, campaign, table, trial
from tests.samples import sample

QUICK = settings(max_examples=50, deadline=None)
times = st.floats(min_value=1.0, max_value=1e5)
rows = st.dictionaries(
    st.sampled_from(["code-1", "code-2", "chat-1", "math-1"]), st.tuples(times, times), min_size=1
)
OPTIONAL = (
    "rounds",
    "drafted",
    "accepted",
    "accepted_histogram",
    "drafted_histogram",
    "round_ms_median",
    "round_cpu_ms_median",
    "output_sha256",
    "compared_tokens",
)
BASE_FOR_SWAP = replace(BASELINE, id="spec")
SPEC_FOR_SWAP = replace(SPEC, id="baseline", baseline="spec")


@QUICK
@given(rows=rows, factor=st.floats(min_value=0.01, max_value=100.0))
def test_another_unit_of_time_changes_no_ratio(
    rows: dict[str, tuple[float, float]], factor: float
) -> None:
    scaled = {prompt: (a * factor, b * factor) for prompt, (a, b) in rows.items()}

    before = summarize(campaign(table(rows), prompts=tuple(rows)))
    after = summarize(campaign(table(scaled), prompts=tuple(rows)))

    assert [each.speedup for each in after.prompts] == pytest.approx(
        [each.speedup for each in before.prompts]
    )


@QUICK
@given(rows=rows)
def test_swapping_the_arms_inverts_speedup_and_interval(
    rows: dict[str, tuple[float, float]],
) -> None:
    trials, prompts = table(rows, blocks=2), tuple(rows)

    forward = summarize(campaign(trials, prompts=prompts)).estimates
    backward = summarize(
        campaign(trials, prompts=prompts, arms=(BASE_FOR_SWAP, SPEC_FOR_SWAP))
    ).estimates

    for one, other in zip(forward, backward, strict=True):
        assert (one.speedup is None) == (other.speedup is None)
        if one.speedup is not None and other.speedup is not None:
            assert one.speedup * other.speedup == pytest.approx(1.0)
        if one.interval is not None and other.interval is not None:
            product = math.log(one.interval.low) + math.log(other.interval.high)
            assert product == pytest.approx(0.0, abs=1e-6)


@QUICK
@given(rows=rows, blocks=st.integers(min_value=1, max_value=4), rounds=st.integers(1, 10))
def test_speedup_is_always_yield_over_cost(
    rows: dict[str, tuple[float, float]], blocks: int, rounds: int
) -> None:
    trials = [replace(each, rounds=rounds) for each in table(rows, blocks)]

    for each in summarize(campaign(trials, prompts=tuple(rows))).prompts:
        assert each.tokens_per_round is not None
        assert each.round_cost is not None
        assert each.speedup == pytest.approx(each.tokens_per_round / each.round_cost)


@QUICK
@given(order=st.permutations(range(6)))
def test_the_running_order_does_not_change_the_ratio(order: list[int]) -> None:
    trials = table({"code-1": (100.0, 70.0), "code-2": (90.0, 50.0), "code-3": (80.0, 60.0)})
    shuffled = [trials[index] for index in order]
    prompts = ("code-1", "code-2", "code-3")

    assert [each.speedup for each in pair(campaign(shuffled, prompts=prompts), SPEC)] == [
        pytest.approx(ratio) for ratio in (100 / 70, 90 / 50, 80 / 60)
    ]


@QUICK
@given(values=st.lists(st.floats(min_value=-5, max_value=5), min_size=2, max_size=20))
def test_an_interval_contains_its_mean(values: list[float]) -> None:
    interval = t_interval(values)

    assert interval is not None
    center = math.exp(math.fsum(values) / len(values))
    assert interval.low <= center * (1 + 1e-9)
    assert interval.high >= center * (1 - 1e-9)


@QUICK
@given(
    length=st.integers(min_value=1, max_value=8),
    lengths=st.lists(st.integers(min_value=0, max_value=8), min_size=1, max_size=40),
)
def test_with_one_drafted_length_the_chances_give_back_the_tokens_per_round(
    length: int, lengths: list[int]
) -> None:
    accepted = [min(each, length) for each in lengths]
    seen = trial(
        drafted_histogram=tuple([0] * length + [len(accepted)]),
        accepted_histogram=tuple(accepted.count(n) for n in range(max(accepted) + 1)),
    )

    chances = position_acceptance([seen])

    assert chances is not None
    assert all(0 <= chance <= 1 for chance in chances)
    assert expected_tokens(chances, length) == pytest.approx(1 + sum(accepted) / len(accepted))


@QUICK
@given(missing=st.sets(st.sampled_from(OPTIONAL)), every=st.integers(min_value=1, max_value=3))
def test_missing_counters_leave_gaps_and_never_break_or_invent_anything(
    missing: set[str], every: int
) -> None:
    whole = sample(tasks=("code", "chat"), prompts_per_task=2, blocks=2)
    gaps = dict.fromkeys(missing)
    trials = tuple(
        replace(each, **gaps) if each.order % every == 0 else each  # type: ignore[arg-type]
        for each in whole.trials
    )
    submission = replace(whole, trials=trials)

    summary = summarize(submission)

    json.dumps(encode(summary), allow_nan=False)
    for each in summary.estimates:
        assert (each.speedup is None) == (each.task is None)
        assert each.speedup is None or each.speedup > 0
        assert reason(each, submission).endswith(".")
