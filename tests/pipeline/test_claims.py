"""Claims of cells, and of the best of several settings, keep their limits."""

from dataclasses import replace

import pytest

from estimates.intervals import choice_factor
from pipeline.data.quantiles import choice_factors
from tests.pipeline.tables import Example, campaign, database, entry, one, real_database, rows

pytestmark = pytest.mark.long

CLEAR = (1.29, 1.31)


def under(version: str, made: Example) -> Example:
    """The campaign with another version of the engine."""
    engine = replace(made.submission.engine, version=version)
    return entry(replace(made.submission, engine=engine), made.summary)


def by(contributor: str, made: Example) -> Example:
    """The campaign as another contributor would send it."""
    return entry(replace(made.submission, contributor=contributor), made.summary)


def test_the_figures_of_a_cell_divide() -> None:
    # The plain rates of ada and bob are 20 and 30, their speedups 1.1 and 1.3: 25 plain, 1.2 times
    # as fast, so 30 tokens/s. Rounds yield 2.0 and 2.8, so 2.4, at a cost of 2.4 / 1.2.
    connection = database(
        campaign(1.1, tokens_per_round=2.0, baseline_tps=20.0, contributor="ada"),
        campaign(1.3, tokens_per_round=2.8, baseline_tps=30.0, contributor="bob"),
    )

    found = one(
        connection,
        "select baseline_tps, speedup, tps, tokens_per_round, round_cost from cell",
    )

    assert found == pytest.approx((25, 1.2, 30, 2.4, 2.0))


def test_a_vote_is_the_median_over_machines_of_the_median_over_files() -> None:
    def by_ada(speedup: float, ram_gib: int, day: int) -> Example:
        made = campaign(speedup, contributor="ada", day=f"2026-11-{day:02}")
        machine = replace(made.submission.machine, ram_mib=1024 * ram_gib)
        return entry(replace(made.submission, machine=machine), made.summary)

    # One machine says 1.0, 1.1 and 9.9, so 1.1; the other 1.3 alone: the median is 1.2.
    made = [by_ada(1.0, 8, 1), by_ada(1.1, 8, 2), by_ada(9.9, 8, 3), by_ada(1.3, 16, 4)]

    assert one(database(*made), "select ratio, machines, files from vote") == (
        pytest.approx(1.2),
        2,
        4,
    )


def test_the_stated_request_has_an_interval_of_the_same_kind() -> None:
    connection = database(
        campaign(1.3, within=(1.2, 1.408333), request=1.3, request_within=(1.2, 1.408333))
    )

    low, high, *request = one(
        connection,
        "select interval_low, interval_high, stated_request, stated_request_low,"
        " stated_request_high from cell",
    )

    assert request == pytest.approx([1.3, low, high])


def test_a_cell_without_prompt_times_says_nothing_about_requests() -> None:
    connection = database(campaign(1.3, within=CLEAR))

    assert one(connection, "select stated_request, stated_request_low, verdict from cell") == (
        None,
        None,
        "helps",
    )


def test_a_gain_per_token_with_clearly_slower_requests_is_slower_in_all() -> None:
    connection = database(
        campaign(1.3, within=CLEAR, request=0.6, request_within=(0.59, 0.61)),
    )

    assert one(connection, "select verdict, mark from cell") == ("slower-in-all", "slower-in-all")
    picked = rows(connection, "select distinct recommended, verdict from best")
    assert picked == [(False, "slower-in-all")]


def test_a_cell_is_not_stronger_than_its_only_file() -> None:
    # The file's interval is clear, but its verdict is not: a third of its half-width, for one.
    alone = campaign(1.5, within=(1.49, 1.51), verdict="no-clear-difference")

    assert one(database(alone), "select verdict from cell") == ("no-clear-difference",)
    assert one(database(alone), "select distinct verdict from best") == ("no-clear-difference",)


def test_a_gain_must_exceed_one_by_a_third_of_its_half_width() -> None:
    # One vote: sqrt(0.1335^2 + ln(1.26 / 1.16)^2 / 4) = 0.1398, so 1.21 / 1.15 = 1.0522; a third of
    # 0.1398 is 0.0466, and exp(0.0466) = 1.0477. At 1.2 the bound is 1.0434.
    clear = campaign(1.21, within=(1.16, 1.26))
    close = campaign(1.2, within=(1.15, 1.25), verdict="helps")

    assert one(database(clear), "select verdict from cell") == ("helps",)
    assert one(database(close), "select verdict from cell") == ("no-clear-difference",)


def test_two_known_results_near_one_confirm_no_gain_of_unknown_ones() -> None:
    unknown = [f"new{number}" for number in range(6)]
    honest = [(1.04, "ada"), (1.02, "bob")]
    made = [
        campaign(speedup, within=(speedup / 1.01, speedup * 1.01), contributor=name)
        for speedup, name in [*honest, *((1.32, name) for name in unknown)]
    ]

    connection = database(*made, new=unknown)

    assert one(connection, "select verdict, votes, confirmed from cell") == (
        "no-clear-difference",
        2,
        False,
    )


def test_a_cell_whose_builds_differ_more_than_contributors_do_has_no_sign() -> None:
    # Contributors differ by sqrt(0.0023125) = 4.8 %, so two builds by 2 * sqrt(2) * 4.8 = 13.6 % at
    # most; ln(1.61 / 1.30) = 21.4 %, and ln(1.35 / 1.30) = 3.8 %.
    old = under("b1", campaign(1.30, within=(1.29, 1.31), contributor="ada"))
    new = under("b2", campaign(1.61, within=(1.60, 1.62), contributor="bob"))
    same = under("b2", campaign(1.35, within=(1.34, 1.36), contributor="bob"))

    both = old, new, by("cyd", old), by("dee", new)
    own = old, under("b2", campaign(1.61, within=(1.60, 1.62), contributor="ada"))

    for made in (both, own):
        assert one(database(*made), "select verdict, mark, confirmed from cell") == (
            "differs-by-build",
            "differs-by-build",
            False,
        )
    # One person each: these differ by person as well.
    assert one(database(old, new), "select verdict from cell") == ("helps",)
    assert one(database(old, same), "select verdict from cell") == ("helps",)


def test_a_bound_of_one_file_makes_the_cell_a_bound() -> None:
    connection = database(
        campaign(1.3, contributor="ada"), campaign(1.2, contributor="bob", at_most=True)
    )

    assert one(connection, "select at_most from cell") == (True,)


def test_sql_moves_bounds_by_the_same_factor_as_the_terminal() -> None:
    factors = {row["choices"]: row["factor"] for row in choice_factors()}

    assert factors[13] == choice_factor(13)
    assert factors[130] == choice_factor(123)  # above a hundred in steps of two digits


def test_the_printed_bound_allows_for_the_choice_of_the_best_of_thirteen() -> None:
    # Depth 4 gains 2.0 within ± 0.1399 (see above); the others nothing.
    clear = campaign(2.0, within=(2.0 / 1.0426, 2.0 * 1.0426), depth=4)
    others = [campaign(1.0, within=(0.9, 1.11), depth=depth) for depth in range(5, 17)]

    connection = database(clear, *others)

    question = (
        "select choices, interval_low, verdict, speedup from best where place = 'device-task'"
    )
    choices, low, verdict, speedup = one(connection, question)
    (alone,) = one(connection, "select interval_low from cell where depth = 4")
    exact = 2.0 * (alone / 2.0) ** choice_factor(13)
    assert (choices, verdict, speedup) == (13, "helps", 2.0)
    assert low == pytest.approx(exact)


def test_the_best_has_the_highest_bound_and_not_the_highest_figure() -> None:
    connection = database(
        campaign(1.6, within=(1.58, 1.62), depth=4),
        campaign(1.9, within=(1.2, 3.0), depth=8),
    )

    picked = "select distinct depth from best where place in ('device', 'device-task', 'map')"
    assert rows(connection, picked) == [(4,)]


def test_a_sentence_over_devices_counts_the_settings_of_all() -> None:
    connection = database(
        campaign(1.5, within=CLEAR, task=None),
        campaign(1.2, within=(1.1, 1.3), task=None, gpu="NVIDIA GeForce RTX 3090", vram_mib=24576),
    )

    found = rows(connection, "select place, choices from best where place in ('device', 'target')")
    assert sorted(found) == [("device", 1), ("device", 1), ("target", 2)]


def test_nothing_is_recommended_whose_files_all_clearly_lose_whole_requests() -> None:
    cells = """
        select best.candidate from best join pool_member on pool = candidate
        where recommended and has_verdict(pool_member.verdict)
        group by best.candidate
        having bool_and(coalesce(clearly_below(whole_request_low, whole_request_high), false))
    """
    arms = """
        select best.candidate from best
        join evidence on (evidence.submission, evidence.arm) = (best.submission, best.arm)
        where recommended and evidence.task in ('all', 'own')
          and clearly_below(whole_request_low, whole_request_high)
    """

    assert rows(real_database(), cells) == []
    assert rows(real_database(), arms) == []
    # There are such arms, which a row would otherwise recommend.
    assert one(real_database(), "select count(*) > 0 from best where not recommended") == (True,)
