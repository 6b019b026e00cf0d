"""A cell and its interval are right on tables small enough to work out by hand."""

from dataclasses import replace

import pytest

from pipeline.site.rows import read
from tests.pipeline.tables import campaign, database, entry, one, rows

pytestmark = pytest.mark.long


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

    # ln: 0.0953102, 0.1823216, 0.2623643; mean 0.1799987, variance 0.0069808; with the prior
    # (4 * 0.0023125 + 2 * 0.0069808) / 6 = 0.0038686, over 3 and rooted 0.0359102;
    # t(0.975, 6) = 2.446912, so 0.1799987 ± 0.0878691.
    assert speedup == pytest.approx(1.2)
    assert (low, high) == pytest.approx((1.096507, 1.307175), abs=1e-5)
    assert (kind, verdict, confirmed, votes) == ("t", "helps", True, 3)


def test_a_contributor_has_one_vote_however_often_they_submit() -> None:
    connection = database(
        campaign(1.0, contributor="ada", day="2026-11-01"),
        campaign(1.44, contributor="ada", day="2026-11-02"),
        campaign(1.2, contributor="bob"),
    )

    found = one(connection, "select speedup, votes, submissions, contributors from cell")

    # ada's vote is the median of 1.00 and 1.44, which is 1.22; that of 1.22 and 1.2 is 1.21.
    assert found == pytest.approx((1.21, 2, 3, 2))


@pytest.mark.parametrize("contributor", ["ada", None])
def test_twelve_machines_of_one_contributor_are_one_vote_that_confirms_nothing(
    contributor: str | None,
) -> None:
    made = []
    for number in range(12):
        one_of_them = campaign(1.1 + number / 100, contributor=contributor)
        machine = replace(one_of_them.submission.machine, ram_mib=1024 * (number + 8))
        own = replace(one_of_them.submission, machine=machine)
        made.append(entry(own, one_of_them.summary))

    found = one(database(*made), "select votes, confirmed, submissions, rigs from cell")

    assert found == (1, False, 12, 12)


def test_a_single_submission_is_widened_by_the_spread_of_contributors_and_unconfirmed() -> None:
    connection = database(campaign(1.3, within=(1.2, 1.408333)))

    found = one(
        connection,
        "select interval_low, interval_high, interval_kind, verdict, confirmed, mark from cell",
    )

    # The prior: 0.06^2 + 0.025^2 + 0.02^2 = 0.004625, half of it with 4 degrees of freedom, so
    # t(0.975, 4) * sqrt(0.0023125) = 2.776445 * 0.0480885 = 0.133515 between contributors, and its
    # own half-width 0.080043: 0.155669 together.
    assert found == (
        pytest.approx(1.112601, abs=1e-5),
        pytest.approx(1.518963, abs=1e-5),
        "one-contributor",
        "helps",
        False,
        "helps",
    )


def test_evidence_without_a_verdict_votes_only_if_there_is_no_other() -> None:
    doubtful = campaign(3.0, within=(2.9, 3.1), verdict="uncertain", contributor="bob")

    alone = database(doubtful)
    beside = database(doubtful, campaign(1.3, within=(1.29, 1.31), contributor="ada"))

    assert one(alone, "select verdict, votes from cell") == ("uncertain", 1)
    assert one(beside, "select speedup, verdict, votes, confirmed from cell") == (
        pytest.approx(1.3),
        "helps",
        1,
        False,
    )


def test_the_best_of_many_needs_a_wider_margin() -> None:
    # Thirteen depths; the best at 1.22 is clear as a cell, but not as the best of thirteen.
    made = [
        campaign(
            1.22 if depth == 1 else 1.0,
            within=(1.1713, 1.2707) if depth == 1 else (0.9, 1.11),
            depth=depth,
            day=f"2026-11-{depth:02}",
        )
        for depth in range(1, 14)
    ]
    connection = database(*made)

    assert one(connection, "select verdict from cell where depth = 1") == ("helps",)
    strip = "select verdict, choices from pair where scope = 'pair' and task = 'code'"
    assert one(connection, strip) == ("no-clear-difference", 13)


def test_several_files_of_one_contributor_are_pooled() -> None:
    # All of them at or below 0.77: together they must not become an interval around 1.
    figures = (0.77, 0.60, 0.45, 0.40, 0.35)
    made = [
        campaign(figure, within=(figure / 1.2, figure * 1.2), day=f"2026-11-{number:02}")
        for number, figure in enumerate(figures, start=1)
    ]

    speedup, high, verdict = one(
        database(*made), "select speedup, interval_high, verdict from cell"
    )

    assert speedup == pytest.approx(0.45)
    assert high < 0.62
    assert verdict == "hurts"


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
def test_a_difference_in_one_axis_makes_another_cell(other: dict[str, object]) -> None:
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
    assert rows(connection, "select device from pair") == []


def test_too_few_prompts_is_not_a_failure() -> None:
    connection = database(campaign(None, verdict="too-few-prompts"))

    assert one(connection, "select verdict from cell") == ("too-few-prompts",)


def test_an_arm_that_never_drafted_is_reported_as_neither_help_nor_harm() -> None:
    connection = database(campaign(1.3, within=(1.2, 1.4), verdict="never-drafted"))

    assert one(connection, "select verdict from cell") == ("never-drafted",)


def test_an_arm_that_never_drafted_is_not_the_best_of_a_submission() -> None:
    connection = database(campaign(1.5, task=None, verdict="never-drafted", contributor="ada"))

    assert one(connection, "select best_arm, best_speedup from submission_overview") == (None, None)
    assert read(connection, "break_even") == ()


def test_controls_and_alternatives_are_evidence_but_no_cell() -> None:
    base = campaign(1.0)
    arms = (base.submission.arms[0], replace(base.submission.arms[1], role="control"))
    connection = database(entry(replace(base.submission, arms=arms), base.summary))

    assert one(connection, "select count(*) from evidence") == (1,)
    assert one(connection, "select count(*) from cell") == (0,)
