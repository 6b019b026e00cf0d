"""People count, not rows; the nearest figures decide; a loss counts until others gained."""

import math
from collections.abc import Sequence

import pytest

from answers.evidence import Figure, Found, Report, found_here

# One person and one more: exp(1.6449 · 0.15 · √2); of two √1.5, of three √(4/3).
ONE, TWO, THREE = 1.4176, 1.3528, 1.3296


def figure(speedup: float, **others: object) -> Figure:
    usual = {"method": "mtp", "depth": 3, "draft": None, "task": "all"}
    return Figure(**{**usual, "speedup": speedup, **others})  # type: ignore[arg-type]


def report(person: str, *speedups: float | Figure, **others: object) -> Report:
    """A person's report about one card and model."""
    usual = {
        "tier": "published", "card": "rtx 4090", "cards": 1, "on_cpu": False, "backend": "cuda",
        "model": "m", "quantisation": "Q4_K_M", "engine": "llama.cpp", "build": None, "day": None,
        "person": person, "people": 1, "source": person,
    }  # fmt: skip
    figures = tuple(x if isinstance(x, Figure) else figure(x) for x in speedups)
    return Report(**{**usual, "figures": figures, **others})  # type: ignore[arg-type]


def found(here: Sequence[Report], task: str | None = None, bits: str | None = "Q4_K_M") -> Found:
    (one,) = found_here(here, task, bits)
    return one


def test_the_median_is_over_people_and_not_over_their_rows() -> None:
    ann = [report("ann", 1.2), report("ann", 1.1), report("ann", 1.3)]

    both = found([*ann, report("bob", 2.0)])

    # Ann's median is 1.2; between 1.2 and 2.0 is √2.4.
    assert both.speedup == pytest.approx(1.5492, abs=1e-4)
    assert (both.people, both.least, both.most) == (2, pytest.approx(1.2), pytest.approx(2.0))


@pytest.mark.parametrize(("people", "factor"), [("a", ONE), ("ab", TWO), ("abc", THREE)])
def test_the_interval_is_for_one_more_person(people: str, factor: float) -> None:
    got = found([report(person, 1.5) for person in people])

    assert got.low == pytest.approx(1.5 / factor, rel=1e-4)
    assert got.high == pytest.approx(1.5 * factor, rel=1e-4)


def test_measured_reports_come_before_imported_and_imported_before_published() -> None:
    printed, imported = report("ann", 3.0), report("bob", 2.0, tier="imported")
    measured = report("cyd", 1.5, tier="measured")

    assert found([printed, imported, measured]).speedup == 1.5
    assert found([printed, imported]).speedup == 2.0
    assert found([printed]).speedup == pytest.approx(3.0)


def test_a_measured_figure_has_its_own_interval_and_else_that_of_one_person() -> None:
    known = report("ann", figure(1.5, low=1.4, high=1.6), tier="measured")
    bare = report("ann", figure(1.5), tier="measured")

    assert (found([known]).low, found([known]).high) == (1.4, 1.6)
    assert found([bare]).low == pytest.approx(1.5 / ONE, rel=1e-4)
    assert found([bare]).high == pytest.approx(1.5 * ONE, rel=1e-4)


def test_figures_of_the_task_come_first_then_those_over_all_tasks() -> None:
    ann = report("ann", figure(1.1), figure(2.0, task="code"), figure(0.9, task="chat"))

    assert found([ann], "code").speedup == pytest.approx(2.0)
    assert found([ann], "math").speedup == pytest.approx(1.1)
    assert found([ann]).speedup == pytest.approx(1.1)


def test_figures_of_the_quantisation_come_first_then_any() -> None:
    here = [report("ann", 1.1), report("bob", 2.0, quantisation="Q8_0")]

    assert found(here, bits="Q8_0").speedup == pytest.approx(2.0)
    assert found(here, bits="Q8_0").quantisation == "Q8_0"
    # √2.2 of both where nobody has this quantisation.
    assert found(here, bits="Q2_K").speedup == pytest.approx(1.4832, abs=1e-4)
    assert found(here, bits="Q2_K").quantisation is None


def test_confounded_runs_count_only_if_there_is_nothing_else() -> None:
    clean = report("ann", 1.2)
    confounded = report("bob", 3.0, doubts=("confounded",))

    assert found([clean, confounded]).speedup == pytest.approx(1.2)
    assert found([confounded]).speedup == pytest.approx(3.0)


def test_figures_are_sure_if_at_least_one_is_undoubted() -> None:
    old = report("ann", 1.5, doubts=("before 2025",))
    clean = report("bob", 1.5)

    assert not found([old]).sure
    assert found([old, clean]).sure


@pytest.mark.parametrize(
    ("others", "lost"),
    [
        ([], True),
        ([report("bob", 1.3)], False),  # as many people gained
        ([report("ann", 0.8), report("ann", 0.7)], True),  # the same person again
    ],
    ids=["one lost", "another gained", "rows of one person"],
)
def test_a_loss_counts_until_as_many_people_gained(others: list[Report], *, lost: bool) -> None:
    assert found([report("ann", 0.9), *others]).lost is lost


LOST = (report("ann", 0.9, build="b9000"), report("bob", 0.8, build="b9100"))


@pytest.mark.parametrize(
    ("gain", "lost"),
    [
        (report("cyd", 1.3, build="b9101"), False),
        (report("cyd", 1.3, build="b9050"), True),  # newer than only one of them
        (report("cyd", 1.3, build="b9101", engine="ik_llama.cpp"), True),
        (report("cyd", 1.3, build=None), True),
    ],
    ids=["newer", "between", "another engine", "no build"],
)
def test_a_loss_counts_until_a_newer_build_of_the_engine_gained(
    gain: Report, *, lost: bool
) -> None:
    assert found([*LOST, gain]).lost is lost


@pytest.mark.parametrize(("day", "lost"), [("2026-05-02", False), ("2026-04-30", True)])
def test_builds_without_numbers_are_ordered_by_date(day: str, *, lost: bool) -> None:
    old = [report(person, 0.9, day="2026-05-01") for person in ("ann", "bob")]

    assert found([*old, report("cyd", 1.3, day=day)]).lost is lost


def test_a_person_who_gained_at_another_depth_did_not_lose() -> None:
    ann = report("ann", figure(0.7, depth=8), figure(1.2, depth=2))

    assert not found([ann]).lost


def test_depth_and_draft_are_the_most_tried_ones() -> None:
    here = [
        report("ann", figure(1.2, depth=4, draft="Small Q8_0"), figure(2.0, depth=8)),
        report("bob", figure(1.4, depth=4, draft="Small Q8_0")),
    ]

    most = found(here)

    assert (most.depth, most.draft, most.people) == (4, "Small Q8_0", 2)
    assert most.speedup == pytest.approx(math.sqrt(1.2 * 1.4))


def test_of_equally_tried_settings_the_fastest_is_named() -> None:
    ann = report("ann", figure(1.2, depth=2), figure(1.6, depth=4))

    assert (found([ann]).depth, found([ann]).speedup) == (4, pytest.approx(1.6))


def test_the_rate_before_is_the_median_of_those_stated() -> None:
    here = [
        report("ann", figure(1.2, before_tps=40.0)),
        report("bob", figure(1.2)),
        report("cyd", figure(1.2, before_tps=44.0)),
    ]

    assert found(here).before_tps == 42
