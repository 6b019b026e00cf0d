"""Headline and the views by task, method and backend are right on hand-made tables."""

from dataclasses import replace

import pytest

from estimates.model import Estimate, Summary
from pipeline.site.rows import read
from tests.pipeline.tables import ARM, campaign, database, entry, one, rows
from tests.samples import sample


def test_a_round_that_costs_more_than_its_longest_yield_cannot_win() -> None:
    connection = database(
        campaign(0.4, task=None, tokens_per_round=2.2, quantisation="Q8_0"),  # 2.2 / 0.4 = 5.5
        campaign(0.5, task=None, tokens_per_round=2.5, quantisation="Q4_0"),  # 2.5 / 0.5 = 5
    )

    assert [(row.cannot_win, row.round_cost) for row in read(connection, "break_even")] == [
        (False, pytest.approx(5.0)),
        (True, pytest.approx(5.5)),
    ]


def test_failures_name_the_arm_the_reason_and_the_count() -> None:
    base = campaign(1.0)
    arm = replace(base.submission.arms[1], outcome="failed", reason="vocabulary-mismatch")
    trials = tuple(
        replace(trial, outcome="failed", reason="out-of-memory") if trial.arm == ARM else trial
        for trial in base.submission.trials
    )
    broken = replace(base.submission, arms=(base.submission.arms[0], arm), trials=trials)

    connection = database(entry(broken, base.summary))

    assert rows(connection, "select arm, scope, reason, failed_trials from failure") == [
        (ARM, "arm", "vocabulary-mismatch", None),
        (ARM, "trials", "out-of-memory", 1),
    ]


def test_the_verification_curve_is_in_units_of_one_step() -> None:
    connection = database(campaign(1.0))

    # 20 ms for one token and 2 ms for each further one.
    assert rows(connection, "select width, step_ms, step_ratio from verification_curve") == [
        (1, 20.0, 1.0),
        (2, 22.0, 1.1),
        (3, 24.0, 1.2),
        (4, 26.0, 1.3),
        (5, 28.0, 1.4),
    ]


def test_the_overview_spells_out_the_best_arm() -> None:
    submission = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    figures = {"prompt-lookup-n4": 1.1, ARM: 1.4}
    summary = Summary(
        estimates=tuple(
            Estimate(
                arm=arm,
                baseline="baseline",
                task=None,
                verdict="helps",
                prompts=1,
                trials=2,
                failed_trials=0,
                speedup=speedup,
            )
            for arm, speedup in figures.items()
        ),
        prompts=(),
        flags=(),
    )

    best, speedup, arms, trials = one(
        database(entry(submission, summary)),
        "select best_arm, best_speedup, arms, trials from submission_overview",
    )

    assert (best, speedup, trials) == (ARM, 1.4, 3)
    assert [(arm["arm"], arm["speedup"]) for arm in arms] == list(figures.items())


def test_the_newest_comes_first() -> None:
    connection = database(
        campaign(1.0, day="2026-11-01"), campaign(1.0, day="2026-11-03", backend="vulkan")
    )

    assert rows(connection, "select backend from newest") == [("vulkan",), ("cuda",)]
