"""The comparison of two builds finds real changes and no others."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bench.builds import MACHINES, verdicts
from harness.compare.comparison import Outputs, compare, half_width, judge, level_of
from harness.compare.paired_blocks import block_means
from harness.compare.report import alarms, lines, markdown
from schemas.submission import Submission
from tests.estimates.campaigns import campaign, failed, trial

PROMPTS = ("code-1", "code-2")
# 11 tokens: ten after the first, in 100 ms; the arm's in five rounds and 80 ms.
DRAFTS = {"rounds": 5, "drafted": 20, "accepted": 5}
OUTPUT = "a" * 64
MOVES = (1.0, 1.01, 0.99, 1.0, 1.01, 0.99)


def build(
    *,
    plain_ms: float = 100.0,
    spec_ms: float = 80.0,
    reading_ms: float | None = None,
    answers: tuple[str, ...] = (),
    **drafts: int,
) -> Submission:
    """Six blocks on a machine whose speed varies a little; prompts have 100 tokens.

    `answers` are the texts of the arm with speculation on the first prompts.
    """
    prompts = tuple(f"json-{n}" for n in range(len(answers))) or PROMPTS
    found = campaign(
        [
            trial(
                arm,
                prompt,
                block=block,
                decode_ms=ms * moved,
                wall_ms=None if reading_ms is None else (ms + reading_ms) * moved,
                output_sha256=OUTPUT,
                answer=answers[at] if answers and arm == "spec" else None,
                **({**DRAFTS, **drafts} if arm == "spec" else {}),
            )
            for block, moved in enumerate(MOVES)
            for at, prompt in enumerate(prompts)
            for arm, ms in (("baseline", plain_ms), ("spec", spec_ms))
        ],
        prompts=prompts,
    )
    known = tuple(replace(each, tokens=100) for each in found.suite.prompts)
    return replace(found, suite=replace(found.suite, prompts=known))


def test_a_build_compared_with_itself_shows_no_difference_anywhere() -> None:
    found = compare(build(), build())

    assert found.verdict == "no-difference"
    assert [each.arm for each in found.arms] == ["baseline", "spec"]
    assert all((each.prompts, each.blocks) == (2, 6) for each in found.arms)
    assert all(each.speed is not None and each.speed.ratio == 1 for each in found.arms)


def test_a_slower_round_is_a_slower_arm_and_a_higher_r() -> None:
    baseline, spec = compare(build(), build(spec_ms=100.0)).arms

    assert baseline.speed.direction == "no-difference"
    assert spec.speed.ratio == pytest.approx(0.8)
    assert (spec.speed.base, spec.speed.head) == pytest.approx((125.0, 100.0))
    assert spec.speed.direction == "lower"
    # Ten tokens in five rounds, over a speedup of 1.25 and of 1.
    assert (spec.round_cost.base, spec.round_cost.head) == pytest.approx((1.6, 2.0))
    assert spec.round_cost.ratio == pytest.approx(1.25)
    assert spec.round_cost.direction == "higher"
    assert spec.tokens_per_round.direction == "no-difference"


def test_fewer_accepted_tokens_and_slower_rounds_get_different_reasons() -> None:
    # Ten tokens in eight rounds, and rounds as fast as before: 16 ms each.
    spec = compare(build(), build(spec_ms=128.0, rounds=8, accepted=2)).arms[1]

    assert spec.round_cost.ratio == pytest.approx(1.0)
    assert spec.tokens_per_round.ratio == pytest.approx(0.625)
    assert (spec.acceptance_rate.base, spec.acceptance_rate.head) == pytest.approx((0.25, 0.1))
    assert spec.acceptance_rate.direction == "lower"


def test_fewer_tokens_per_round_with_equal_answers_are_an_alarm() -> None:
    alarm = (
        "Acceptance changed: same weights and answers, but spec yields 2.00 → 1.25 tokens per"
        " round."
    )
    other = build(spec_ms=128.0, rounds=8, accepted=2)
    others = tuple(replace(each, output_sha256="b" * 64) for each in other.trials)
    changed = compare(build(), other)

    assert list(alarms(changed)) == [alarm]
    assert alarm in " ".join(lines(changed))
    assert alarm in markdown(changed)
    assert list(alarms(compare(build(), build(spec_ms=100.0)))) == []
    assert list(alarms(compare(build(), replace(other, trials=others)))) == []


def test_a_build_that_reads_prompts_at_half_speed_is_slower_though_it_writes_as_fast() -> None:
    found = compare(build(reading_ms=50.0), build(reading_ms=100.0))

    assert found.verdict == "slower"
    baseline = found.arms[0]
    assert baseline.speed.direction == "no-difference"
    # 100 tokens in 50 ms, then in 100.
    assert (baseline.prompt_speed.base, baseline.prompt_speed.head) == pytest.approx((2000, 1000))
    # 50 or 100 ms of reading and 100 ms of writing; six blocks move by 1 %, and so both medians.
    assert baseline.whole_request.base == pytest.approx(150, rel=0.01)
    assert baseline.whole_request.ratio == pytest.approx(200 / 150)
    assert list(baseline.whose("slower")) == ["reading", "whole request"]


@pytest.mark.parametrize(("broken", "verdict"), [(5, "invalid-answers"), (4, "no-difference")])
def test_answers_that_only_head_breaks_come_before_speeds(broken: int, verdict: str) -> None:
    head = ("wrong-schema",) * broken + ("valid",) * (8 - broken)

    found = compare(build(answers=("valid",) * 8), build(answers=head))

    assert found.verdict == verdict
    assert [each.invalid is not None for each in found.arms] == [False, broken == 5]


def test_outputs_are_compared_by_prompt_over_all_blocks() -> None:
    head = build()
    last = replace(head.trials[-1], output_sha256="b" * 64)
    head = replace(head, trials=(*head.trials[:-1], last))

    outputs = [each.outputs for each in compare(build(), head).arms]

    assert outputs == [
        Outputs(identical=2, different=0, not_compared=0, unstable=0),
        Outputs(identical=1, different=1, not_compared=0, unstable=1),
    ]


def test_an_arm_that_never_answers_under_head_is_a_failure_and_the_others_count() -> None:
    head = build()
    trials = (
        failed("spec", each.prompt, each.block) if each.arm == "spec" else each
        for each in head.trials
    )

    found = compare(build(), replace(head, trials=tuple(trials)))

    assert found.verdict == "failed"
    assert found.arms[1].failed == "head finished no answer (timed-out)"
    assert found.arms[0].speed is not None


def test_a_block_that_was_cut_short_is_left_out() -> None:
    head = build()
    trials = tuple(
        each
        for each in head.trials
        if each.block < 5 or (each.prompt, each.arm) == ("code-1", "baseline")
    )

    found = compare(build(), replace(head, trials=trials))

    assert [(each.prompts, each.blocks) for each in found.arms] == [(2, 5), (2, 5)]


def test_a_stall_of_one_trial_moves_a_block_by_no_more_than_three_deviations() -> None:
    logs = np.array([[0.01, -0.01, 0.01, -0.01], [0.01, -0.01, 0.01, math.log(2)]])

    means = block_means(logs, np.array([0.5, 0.5]))

    # Deviations of 0.01 around the medians 0 and 0.01: half of them 0.01, so the stall counts as
    # 0.044478 more than its prompt's median.
    off = np.abs(np.array([0.01, 0.01, 0.01, 0.01, 0, 0.02, 0, math.log(2) - 0.01]))
    limit = 3 * 1.4826 * float(np.median(off))
    assert means[3] == pytest.approx((-0.01 + 0.01 + limit) / 2)


def test_the_interval_is_students_t_over_blocks_at_the_level_that_the_tests_share() -> None:
    means = np.array([0.0, 0.02, -0.02, 0.0])

    # s = 0.016330, three degrees of freedom, t(0.975) = 3.182446.
    assert half_width(means, 0.95) == pytest.approx(3.182446 * 0.0163299 / 2, rel=1e-5)
    assert level_of(5) == pytest.approx(0.996)


@pytest.mark.parametrize(
    ("change", "bound", "direction"),
    [
        (-0.05, 0.99, "lower"),
        (0.05, 0.99, "higher"),
        (-0.005, 0.99, "no-difference"),  # clear, and not below the bound
        (-0.03, 0.95, "no-difference"),
        (-0.06, 0.95, "lower"),
    ],
)
def test_a_change_counts_where_its_interval_is_below_the_bound(
    change: float, bound: float, direction: str
) -> None:
    means = change + np.array([0, -0.001, 0.001, 0, 0, -0.001])

    assert judge(means, 0.95, bound)[2] == direction


@pytest.mark.parametrize("means", [(-0.1, 0.1) * 3, (-0.3, -0.3, -0.3, -0.31, -0.3)])
def test_widely_varying_or_too_few_blocks_are_unclear(means: tuple[float, ...]) -> None:
    assert judge(np.array(means), 0.95, 0.99)[2] == "unclear"


@pytest.mark.parametrize("machine", MACHINES)
def test_the_same_build_twice_is_slower_in_one_of_50_at_most(machine: str) -> None:
    found = verdicts(MACHINES[machine], slowdown=0.0, comparisons=200, seed=2)

    assert found["no-difference"] >= 0.95
    assert found["slower"] <= 0.02


@pytest.mark.parametrize("machine", MACHINES)
def test_a_slowdown_of_5_percent_is_found_in_18_of_20(machine: str) -> None:
    assert verdicts(MACHINES[machine], slowdown=0.05, comparisons=200, seed=3)["slower"] >= 0.9
