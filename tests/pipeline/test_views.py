"""What many submissions say is right on tables small enough to work out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from estimates.model import Estimate, Summary
from tests.pipeline.tables import ARM, campaign, database, entry, one, rows
from tests.samples import sample


def test_a_cell_is_the_median_of_its_submissions_with_a_t_interval() -> None:
    connection = database(
        campaign(1.1, contributor="ada"),
        campaign(1.2, contributor="bob"),
        campaign(1.3, contributor="cyd"),
    )

    speedup, low, high, kind, verdict, confirmed, votes = one(
        connection,
        "select speedup, interval_low, interval_high, interval_kind, verdict, confirmed, votes"
        " from cell",
    )

    assert speedup == pytest.approx(1.2)
    assert (low, high) == pytest.approx((0.972822, 1.473369), abs=1e-5)
    assert (kind, verdict, confirmed, votes) == ("t", "no-clear-difference", True, 3)


def test_a_contributor_has_one_vote_per_machine_however_often_they_submit() -> None:
    connection = database(
        campaign(1.0, contributor="ada", day="2026-11-01"),
        campaign(1.44, contributor="ada", day="2026-11-02"),
        campaign(1.2, contributor="bob"),
    )

    found = one(connection, "select speedup, votes, submissions, contributors from cell")

    # ada's vote is the geometric mean of 1.00 and 1.44, which is 1.2.
    assert found == pytest.approx((1.2, 2, 3, 2))


def test_two_machines_of_one_contributor_are_two_votes() -> None:
    first, second = (campaign(speedup, contributor="ada") for speedup in (1.1, 1.3))
    machine = replace(second.submission.machine, ram_mib=65536)
    second = entry(replace(second.submission, machine=machine), second.summary)

    assert one(database(first, second), "select votes, contributors, rigs from cell") == (2, 1, 2)


def test_those_without_a_name_share_a_vote_on_equal_machines() -> None:
    unnamed = [
        campaign(speedup, contributor=None, day=day)
        for speedup, day in ((1.1, "2026-11-01"), (1.3, "2026-11-02"))
    ]

    assert one(database(*unnamed), "select votes, submissions, contributors from cell") == (1, 2, 0)


def test_one_submission_shows_its_own_interval_and_is_not_confirmed() -> None:
    connection = database(campaign(1.2, within=(1.1, 1.3)))

    found = one(
        connection,
        "select interval_low, interval_high, interval_kind, verdict, confirmed from cell",
    )

    assert found == (1.1, 1.3, "within", "helps", False)


def test_several_submissions_of_one_voter_show_the_widest_of_their_intervals() -> None:
    connection = database(
        campaign(1.2, within=(1.1, 1.3), day="2026-11-01"),
        campaign(1.2, within=(1.0, 1.25), day="2026-11-02"),
    )

    assert one(connection, "select interval_low, interval_high, interval_kind from cell") == (
        1.0,
        1.3,
        "within",
    )


def test_measured_and_imported_are_never_averaged() -> None:
    connection = database(campaign(1.1), campaign(3.0, tier="imported"))

    assert rows(connection, "select tier, speedup from cell order by tier desc") == [
        ("measured", pytest.approx(1.1)),
        ("imported", pytest.approx(3.0)),
    ]
    assert rows(connection, "select tier, best_speedup from headline") == [
        ("measured", pytest.approx(1.1)),
        ("imported", pytest.approx(3.0)),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"gpu": "NVIDIA GeForce RTX 4060 Ti"},
        {"vram_mib": 16380},
        {"backend": "vulkan"},
        {"backend": "cpu"},
        {"parameters": 14_000_000_000},
        {"quantisation": "Q8_0"},
        {"depth": 8},
        {"task": "math"},
        {"task": None},
    ],
    ids=str,
)
def test_what_differs_in_one_axis_is_another_cell(other: dict[str, object]) -> None:
    connection = database(
        campaign(1.1, day="2026-11-01"),
        campaign(1.3, **other),  # type: ignore[arg-type]
    )

    assert sorted(rows(connection, "select speedup, votes from cell")) == [
        (pytest.approx(1.1), 1),
        (pytest.approx(1.3), 1),
    ]


def test_drivers_rounding_of_video_memory_is_not_another_cell() -> None:
    connection = database(
        campaign(1.1, vram_mib=8188, contributor="ada"),
        campaign(1.3, vram_mib=8192, contributor="bob"),
    )

    assert one(connection, "select device, votes from cell") == ("rtx-4060-8-gb", 2)


def test_an_arm_that_failed_is_a_cell_without_a_figure() -> None:
    connection = database(campaign(None, verdict="failed"))

    assert one(connection, "select speedup, verdict, votes from cell") == (None, "failed", 0)
    assert one(connection, "select speedup, failed_cells from map_cell") == (None, 1)
    assert one(connection, "select failed_cells, cells from headline where tier = 'measured'") == (
        1,
        1,
    )


def test_too_few_prompts_is_not_a_failure() -> None:
    connection = database(campaign(None, verdict="too-few-prompts"))

    assert one(connection, "select verdict from cell") == ("too-few-prompts",)


def test_an_arm_that_never_drafted_is_said_to_have_neither_helped_nor_hurt() -> None:
    connection = database(campaign(1.3, within=(1.2, 1.4), verdict="never-drafted"))

    assert one(connection, "select verdict from cell") == ("never-drafted",)


def test_the_map_shows_the_best_cell_and_counts_those_that_lose() -> None:
    connection = database(
        campaign(1.5, within=(1.4, 1.6), depth=4),
        campaign(0.8, within=(0.7, 0.9), depth=8),
        campaign(1.1, within=(1.0, 1.2), quantisation="Q8_0"),
    )

    found = one(
        connection,
        "select device, size_class, backend, task, speedup, depth, cells, helping_cells,"
        " losing_cells from map_cell",
    )

    assert found == ("rtx-4060-8-gb", "3–8B", "cuda", "code", 1.5, 4, 3, 1, 1)  # noqa: RUF001


def test_the_default_of_a_square_is_what_most_have_measured() -> None:
    connection = database(
        campaign(1.5, depth=8, contributor="ada"),
        campaign(1.1, depth=4, contributor="ada"),
        campaign(1.3, depth=4, contributor="bob"),
    )

    speedup, default, depth = one(
        connection, "select speedup, default_speedup, default_depth from map_cell"
    )

    # The square root of 1.1 · 1.3 is 1.19583.
    assert (speedup, default, depth) == pytest.approx((1.5, 1.195826, 4))


def test_the_headline_counts_cells_that_lose_as_readily_as_those_that_gain() -> None:
    connection = database(
        campaign(1.2, within=(1.1, 1.3), depth=1),
        campaign(0.8, within=(0.7, 0.9), depth=2),
        campaign(1.0, within=(0.9, 1.1), depth=3),
        campaign(0.99, within=(0.9, 1.1), depth=4),
        campaign(
            9.9, within=(9.0, 10.0), task=None, day="2026-11-01"
        ),  # over all tasks: not one cell more
    )

    found = one(
        connection,
        "select cells, helping_share, losing_share, unclear_share, slower_share, best_speedup,"
        " submissions, rigs, contributors, trials from headline where tier = 'measured'",
    )

    assert found == (4, 0.25, 0.25, 0.5, 0.5, 1.2, 5, 1, 1, 10)


def test_a_round_that_costs_more_than_its_longest_yield_cannot_win() -> None:
    connection = database(
        campaign(0.4, tokens_per_round=2.0, round_cost=5.5, quantisation="Q8_0"),
        campaign(0.5, tokens_per_round=2.5, round_cost=5.0, quantisation="Q4_0"),
    )

    assert rows(
        connection, "select cannot_win, margin_tokens from break_even order by round_cost"
    ) == [(False, -2.5), (True, -3.5)]


def test_tasks_and_methods_keep_one_vote_per_contributor_and_machine() -> None:
    connection = database(
        campaign(1.0, depth=4, contributor="ada"),
        campaign(1.44, depth=8, contributor="ada"),
        campaign(1.2, depth=4, contributor="bob"),
    )

    assert one(connection, "select task, method, speedup, votes from task_view") == (
        "code",
        "draft-model",
        pytest.approx(1.2),
        2,
    )
    assert rows(connection, "select depth, votes, speedup from method_view") == [
        (4, 2, pytest.approx(1.2**0.5)),
        (8, 1, pytest.approx(1.44)),
    ]


def test_backends_of_one_device_stand_side_by_side() -> None:
    connection = database(campaign(1.5, backend="cuda"), campaign(0.9, backend="vulkan"))

    assert rows(connection, "select backend, speedup, device_backends from backend_view") == [
        ("cuda", 1.5, 2),
        ("vulkan", pytest.approx(0.9), 2),
    ]


def test_controls_and_alternatives_are_evidence_but_no_cell() -> None:
    base = campaign(1.0)
    arms = (base.submission.arms[0], replace(base.submission.arms[1], role="control"))
    connection = database(entry(replace(base.submission, arms=arms), base.summary))

    assert one(connection, "select count(*) from evidence") == (1,)
    assert one(connection, "select count(*) from cell") == (0,)


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


def test_exactness_is_the_share_of_the_outputs_that_were_compared() -> None:
    connection = database(campaign(1.0, task=None))

    # Two identical, one near-tie, one clearly different.
    assert one(connection, "select identical_share from exactness") == (0.5,)


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

    assert rows(connection, "select recency, backend from newest") == [(1, "vulkan"), (2, "cuda")]


@pytest.mark.parametrize(
    ("marketing", "short"),
    [
        ("NVIDIA GeForce RTX 4060 Laptop GPU", "RTX 4060 Laptop"),
        ("NVIDIA GeForce RTX 5060 Ti", "RTX 5060 Ti"),
        ("AMD Radeon RX 7900 XTX", "Radeon RX 7900 XTX"),
        ("Intel(R) Arc(TM) A770 Graphics", "Arc A770"),
        ("Intel(R) Core(TM) i7-9700K CPU @ 3.60GHz", "Core i7-9700K"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Xeon 2.20GHz"),
        ("AMD Ryzen 7 7840U w/ Radeon 780M Graphics", "Ryzen 7 7840U"),
        ("AMD EPYC 7B12 64-Core Processor", "EPYC 7B12"),
        ("Apple M2 Max", "Apple M2 Max"),
    ],
)
def test_display_names_drop_the_boilerplate(marketing: str, short: str) -> None:
    connection = database(campaign(1.0, gpu=marketing, vram_mib=8192))

    assert one(connection, "select device_name, device_label from setup") == (
        short,
        f"{short} 8 GB",
    )


def test_a_processor_is_named_with_its_threads() -> None:
    connection = database(campaign(1.0, gpu=None, backend="cpu"))

    assert one(connection, "select device, device_label, vram_gib from setup") == (
        "ryzen-7-7845hs-16-threads",
        "Ryzen 7 7845HS 16 threads",
        None,
    )


def test_a_name_without_a_latin_letter_still_has_an_address() -> None:
    device, target = one(
        database(campaign(1.0, gpu="显卡", vram_mib=8192)), "select device, target from setup"
    )

    assert (device, target) == ("8-gb", "sample-7b")


@pytest.mark.parametrize(
    ("parameters", "size_class"),
    [
        (999_999_999, "<1B"),
        (1_000_000_000, "1–3B"),  # noqa: RUF001 - en dash
        (3_000_000_000, "3–8B"),  # noqa: RUF001 - en dash
        (8_000_000_000, "8–16B"),  # noqa: RUF001 - en dash
        (16_000_000_000, "16–40B"),  # noqa: RUF001 - en dash
        (40_000_000_000, ">40B"),
    ],
)
def test_size_classes_begin_at_their_lower_bound(parameters: int, size_class: str) -> None:
    connection = database(campaign(1.0, parameters=parameters))

    assert one(connection, "select size_class from target") == (size_class,)


def test_a_mixture_of_experts_is_shown_by_total_and_active_parameters() -> None:
    base = campaign(1.0, parameters=30_000_000_000)
    target = replace(base.submission.target, active_parameters=3_000_000_000)
    connection = database(entry(replace(base.submission, target=target), base.summary))

    assert one(connection, "select parameters_label, size_class from target") == (
        "30B (3B active)",
        "16–40B",  # noqa: RUF001 - en dash
    )
