"""A summary contains every estimate of a submission."""

import math
from dataclasses import replace

import pytest

from estimates.model import Estimate, ExactnessCounts
from estimates.summary import summarize
from schemas.submission import Submission
from tests.estimates.campaigns import BASELINE, CONTROL, SPEC, campaign, failed, table, trial
from tests.samples import TASKS, SampleCosts, sample


def of(submission: Submission, arm: str = "spec", task: str | None = "code") -> Estimate:
    """The estimate of an arm on a task."""
    estimates = summarize(submission).estimates
    return next(each for each in estimates if (each.arm, each.task) == (arm, task))


def eight_tasks(speedup: float, **others: float) -> Submission:
    """One prompt per task; `others` names tasks with another speedup."""
    rows = {f"{task}-1": (100.0, 100.0 / others.get(task, speedup)) for task in TASKS}
    return campaign(table(rows), prompts=tuple(rows))


def test_the_times_of_all_prompts_are_added_up() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (80.0, 10.0)}

    estimate = of(campaign(table(rows), prompts=tuple(rows)))

    # 180 / 60. The geometric mean of 2 and 8 would be 4, which no clock shows.
    assert estimate.speedup == pytest.approx(3.0)
    assert estimate.prompts == 2
    assert estimate.trials == 2
    # d = (10 - 3 x 5) / 9 and (8 - 3 x 1) / 9: -5/9 and 5/9, a standard error of 5/9, more than
    # that of the repeats. t(0.975, 1) = 12.7062.
    assert estimate.interval is not None
    assert estimate.interval.low == pytest.approx(3 * math.exp(-12.7062 * 5 / 9), rel=1e-4)
    assert estimate.interval.high == pytest.approx(3 * math.exp(12.7062 * 5 / 9), rel=1e-4)


def test_the_printed_rates_divide_to_the_speedup() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (200.0, 20.0), "code-3": (300.0, 20.0)}

    estimate = of(campaign(table(rows), prompts=tuple(rows)))

    # 10, 20 and 30 ms per token: 20 on average; 5, 2 and 2 ms: 3.
    assert estimate.baseline_tps == pytest.approx(1000 / 20)
    assert estimate.tps == pytest.approx(1000 / 3)
    assert estimate.speedup == pytest.approx(20 / 3)


def test_tokens_per_round_have_the_weights_of_the_times() -> None:
    # 10 tokens in 10 rounds and in 2: 1 and 0.2 rounds a token, 0.6 on average, so 1 / 0.6 tokens
    # a round. Plain 20 ms a token against 15 and 5: 2.0, and R = (1 / 0.6) / 2.
    trials = [
        trial("baseline", "code-1", decode_ms=200.0),
        trial("spec", "code-1", decode_ms=150.0, rounds=10),
        trial("baseline", "code-2", decode_ms=200.0),
        trial("spec", "code-2", decode_ms=50.0, rounds=2),
    ]

    estimate = of(campaign(trials, prompts=("code-1", "code-2")))

    assert estimate.speedup == pytest.approx(2.0)
    assert estimate.tokens_per_round == pytest.approx(1 / 0.6)
    assert estimate.round_cost == pytest.approx(1 / 1.2)


def test_the_verdict_follows_the_interval() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (100.0, 50.5), "code-3": (100.0, 49.5)}

    assert of(campaign(table(rows), prompts=tuple(rows))).verdict == "helps"


def test_one_prompt_has_a_speedup_but_no_interval() -> None:
    estimate = of(campaign(table({"code-1": (100.0, 50.0)})))

    assert estimate.speedup == pytest.approx(2.0)
    assert estimate.interval is None
    assert estimate.verdict == "too-few-prompts"


FOUR = ("code-1", "code-2", "code-3", "code-4")


def test_prompts_that_agree_by_chance_are_no_more_precise_than_their_repeats() -> None:
    # Each prompt's blocks have the logarithms ln 2 - 0.3, ln 2 and ln 2 + 0.3: the medians agree,
    # the standard deviation of one block is 0.3. Half-width: 1.96 x 0.3 / 2 = 0.294.
    found = of(
        campaign(
            [
                each
                for prompt in FOUR
                for block, log in enumerate((-0.3, 0.0, 0.3))
                for each in (
                    trial("baseline", prompt, block),
                    trial("spec", prompt, block, decode_ms=50.0 * math.exp(log)),
                )
            ],
            prompts=FOUR,
        )
    )

    assert found.interval is not None
    assert found.interval.low == pytest.approx(2 * math.exp(-0.294))
    assert found.interval.high == pytest.approx(2 * math.exp(0.294))


def test_an_uncertain_clock_excess_widens_the_interval_of_all_prompts() -> None:
    # By the median rounds every prompt is 2. The baseline's excess is 1, 1, 1, 1.21: its interval
    # is ln 1.21 wide, half of it ln 1.1.
    found = of(
        campaign(
            [
                each
                for prompt, excess in zip(FOUR, (1.0, 1.0, 1.0, 1.21), strict=True)
                for each in (
                    trial("baseline", prompt, decode_ms=100 * excess, **rounds_of(10.0)),
                    trial("spec", prompt, decode_ms=50.0, **rounds_of(5.0)),
                )
            ],
            prompts=FOUR,
        )
    )

    assert found.speedup == pytest.approx(2.0)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(2 / 1.1)
    assert found.interval.high == pytest.approx(2 * 1.1)


def rounds_of(ms: float) -> dict[str, tuple[float, ...]]:
    """Ten rounds of equal length in milliseconds."""
    return {"drafted_histogram": (10,), "round_ms_median": (ms,)}


def test_over_tasks_every_task_weighs_the_same() -> None:
    # Seven tasks at 100 ms and one at 1: 800 / 701.
    estimate = of(eight_tasks(1.0, code=100.0), task=None)

    assert estimate.speedup == pytest.approx(800 / 701)


def test_over_all_tasks_the_floor_is_the_error_of_all_repeats() -> None:
    # One prompt a task, two blocks whose log ratios are ln 2 - 0.1 and ln 2 + 0.1: a deviation of
    # 0.1 x sqrt 2. The prompts agree, so 1.96 x 0.1414 x sqrt(8 x 1/2) / 8 = 0.0693.
    prompts = tuple(f"{task}-1" for task in TASKS)
    trials = [
        each
        for prompt in prompts
        for block, log in enumerate((-0.1, 0.1))
        for each in (
            trial("baseline", prompt, block),
            trial("spec", prompt, block, decode_ms=50.0 * math.exp(log)),
        )
    ]

    found = of(campaign(trials, prompts=prompts), task=None).interval

    assert found is not None
    assert found.log_half_width == pytest.approx(1.96 * 0.1 / math.sqrt(8))


def test_a_missing_task_leaves_no_figure_over_tasks() -> None:
    whole = eight_tasks(2.0)
    without_chat = replace(
        whole,
        suite=replace(
            whole.suite,
            prompts=tuple(each for each in whole.suite.prompts if each.task != "chat"),
        ),
    )

    estimate = of(without_chat, task=None)

    assert estimate.speedup is None
    assert estimate.tokens_per_round is None
    assert estimate.verdict == "too-few-prompts"
    assert estimate.prompts == 7


def test_the_task_other_has_its_own_estimate_and_no_part_in_the_overall_one() -> None:
    rows = {f"{task}-1": (100.0, 50.0) for task in TASKS} | {"other-1": (100.0, 1.0)}
    submission = campaign(table(rows), prompts=tuple(rows))

    assert of(submission, task="other").speedup == pytest.approx(100.0)
    assert of(submission, task=None).speedup == pytest.approx(2.0)


def test_without_noise_measured_and_predicted_speedup_agree() -> None:
    summary = summarize(sample(costs=SampleCosts(noise=0.0)))

    for each in summary.estimates:
        assert each.unexplained == pytest.approx(0.0, abs=0.01)


def test_a_control_is_the_time_ratio_over_its_prompts() -> None:
    # (200 + 800) / (100 + 100).
    trials = [
        trial("baseline", "code-1", decode_ms=200.0),
        trial("control", "code-1", decode_ms=100.0),
        trial("baseline", "code-2", decode_ms=800.0),
        trial("control", "code-2", decode_ms=100.0),
    ]

    (found,) = summarize(
        campaign(trials, prompts=("code-1", "code-2"), arms=(BASELINE, CONTROL))
    ).controls

    assert found.ratio == pytest.approx(5.0)


def test_controls_and_alternatives_are_estimated_and_baselines_are_not() -> None:
    other = replace(CONTROL, id="moe", role="alternative")
    arms = (BASELINE, SPEC, CONTROL, other)
    trials = [trial(arm.id) for arm in arms]

    summary = summarize(campaign(trials, arms=arms))

    assert {each.arm for each in summary.estimates} == {"spec", "control", "moe"}


def test_an_arm_without_drafts_has_no_acceptance_and_no_fire_rate() -> None:
    plain = {"rounds": 10, "drafted": 0, "accepted": 0, "drafted_histogram": (10,)}
    trials = [trial("baseline", **plain), trial("control", **plain)]

    estimate = of(campaign(trials, arms=(BASELINE, CONTROL)), "control")

    assert estimate.acceptance_rate is None
    assert estimate.fire_rate is None
    assert estimate.tokens_per_round == pytest.approx(1.0)


def test_each_arm_is_compared_with_its_own_baseline() -> None:
    best = replace(BASELINE, id="best-placement")
    spec = replace(SPEC, baseline="best-placement")
    trials = [
        trial("baseline", decode_ms=100.0),
        trial("best-placement", decode_ms=60.0),
        trial("spec", decode_ms=30.0),
    ]

    estimate = of(campaign(trials, arms=(BASELINE, best, spec)))

    assert estimate.baseline == "best-placement"
    assert estimate.speedup == pytest.approx(2.0)


def test_a_failed_arm_without_trials_is_failed_and_has_no_figures() -> None:
    arm = replace(SPEC, outcome="failed", reason="vocabulary-mismatch")

    for task in ("code", None):
        estimate = of(campaign([trial("baseline")], arms=(BASELINE, arm)), task=task)

        assert estimate.verdict == "failed"
        assert estimate.speedup is None
        assert estimate.tps is None
        assert estimate.exactness is None


def test_failed_trials_are_counted_and_the_rest_is_compared() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (100.0, 50.0)}
    trials = [*table(rows), failed("spec", block=1), trial("baseline", block=1)]

    estimate = of(campaign(trials, prompts=tuple(rows)))

    assert estimate.failed_trials == 1
    assert estimate.trials == 2
    assert estimate.speedup == pytest.approx(2.0)


def test_only_failed_trials_make_a_failed_estimate() -> None:
    estimate = of(campaign([trial("baseline"), failed("spec")]))

    assert (estimate.verdict, estimate.failed_trials) == ("failed", 1)
    assert estimate.speedup is None


def test_a_baseline_that_failed_leaves_nothing_to_compare() -> None:
    estimate = of(campaign([failed("baseline"), trial("spec")]))

    assert estimate.verdict == "failed"
    assert estimate.prompts == 0


def test_exactness_counts_the_compared_prompts() -> None:
    rows = {"code-1": (100.0, 50.0), "code-2": (100.0, 50.0)}
    trials = [
        replace(each, compared_tokens=11, first_divergence=3) if each.prompt == "code-2" else each
        for each in table(rows)
    ]

    estimate = of(campaign(trials, prompts=tuple(rows)))

    assert estimate.exactness == ExactnessCounts(
        identical=0, diverged_near_tie=0, diverged=1, not_compared=1
    )


def test_prompt_estimates_carry_the_pairs() -> None:
    (prompt,) = summarize(campaign(table({"code-1": (100.0, 50.0)}, blocks=2))).prompts

    assert (prompt.arm, prompt.prompt, prompt.task, prompt.blocks) == ("spec", "code-1", "code", 2)
    assert (prompt.baseline_tps, prompt.tps) == (pytest.approx(100.0), pytest.approx(200.0))


def test_the_same_submission_says_the_same_twice() -> None:
    assert summarize(sample(seed=3)) == summarize(sample(seed=3))
