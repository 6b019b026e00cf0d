"""A strip shows the setting chosen for its whole group, and the figure for it."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import pytest

from pipeline.site.pages import strips
from pipeline.site.pages.home import home
from pipeline.site.pages.model import Site
from tests.pipeline.tables import campaign, database, entry, one, print_figures, put, rows
from tests.samples import sample
from tools import first_screen
from tools.picture import SCHEMES


def printed(*figures: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """The tables with these published figures of one model."""
    return print_figures(database(), *figures)


def test_a_published_strip_is_the_median_over_people_of_each_ones_median() -> None:
    # Ada's three figures count once, as 1.2; with Bob's 1.5 and Cyd's 3.0 the median is 1.5.
    connection = printed(
        *({"person": "ada", "speedup": speedup} for speedup in (1.0, 1.2, 9.0)),
        {"person": "bob", "speedup": 1.5},
        {"person": "cyd", "speedup": 3.0},
    )

    found = one(
        connection, "select speedup, least, most, people, figures from pair where scope = 'pair'"
    )

    assert found == pytest.approx((1.5, 1.2, 3.0, 3, 5))


def test_a_device_without_its_groups_method_and_depth_shows_the_nearest_setting() -> None:
    # Two people use MTP at depth 2; `other` has it only at 3 and 8, and `third` lacks it.
    connection = printed(
        {"person": "ada", "speedup": 1.5},
        {"person": "bob", "speedup": 1.5},
        {"person": "cyd", "speedup": 1.1, "device": "other", "depth": 3},
        {"person": "cyd", "speedup": 4.0, "device": "other", "depth": 8},
        {"person": "cyd", "speedup": 4.0, "device": "other", "method": "dflash"},
        {"person": "dan", "speedup": 2.0, "device": "third", "method": "dflash"},
    )

    assert rows(
        connection,
        "select device, method, depth, dots, [dot.speedup for dot in other_dots] from pair"
        " where scope = 'pair' order by device",
    ) == [
        ("card", "mtp", 2, [1.5], []),
        ("other", "mtp", 3, [1.1], [4.0]),
        ("third", "dflash", 2, [2.0], []),
    ]


def test_several_requests_at_once_are_never_mixed_in() -> None:
    connection = printed(
        {"person": "ada", "speedup": 1.5},
        {"person": "ada", "speedup": 0.7, "concurrency": 8},
    )

    drawn = "select condition, speedup from pair where scope = 'pair' order by condition"
    assert rows(connection, drawn) == [
        ("streams", pytest.approx(0.7)),
        (None, pytest.approx(1.5)),
    ]


def test_a_single_task_is_used_only_without_a_figure_over_all_tasks() -> None:
    code = {"person": "ada", "speedup": 3.0, "task": "code"}
    alone = printed(code)
    beside_all = printed(code, {"person": "ada", "speedup": 1.5})
    over_all = "select speedup, tasks from pair where scope = 'pair' and task = 'all'"

    assert one(alone, over_all) == (pytest.approx(3.0), ["code"])
    assert one(beside_all, over_all) == (pytest.approx(1.5), ["all"])


def test_a_measured_strip_is_the_claim_that_allows_for_the_choice() -> None:
    # Of two settings the one that clearly gains is drawn, with a bound that its own cell has not.
    connection = database(
        campaign(1.5, within=(1.4, 1.6), task=None, depth=4),
        campaign(1.1, within=(0.9, 1.3), task=None, depth=8),
    )

    assert one(
        connection,
        "select pair.depth, choices, pair.interval_low < cell.interval_low, dots,"
        " [dot.speedup for dot in other_dots] from pair join cell on cell.depth = pair.depth"
        " where scope = 'pair' and pair.task = 'all'",
    ) == (4, 2, True, [1.5], [1.1])


def test_the_measured_tier_is_drawn_before_the_imported_one() -> None:
    connection = database(campaign(1.1, task=None), campaign(3.0, task=None, tier="imported"))

    assert rows(
        connection,
        "select tier, tier_order, speedup from pair where scope = 'pair' order by tier_order",
    ) == [("measured", 1, pytest.approx(1.1)), ("imported", 2, pytest.approx(3.0))]


def test_the_newer_of_two_suite_versions_is_drawn() -> None:
    older = campaign(1.5, within=(1.4, 1.6), task=None)
    newer = campaign(1.1, within=(1.0, 1.2), task=None)
    suite = replace(newer.submission.suite, version="2.0.0")
    connection = database(older, entry(replace(newer.submission, suite=suite), newer.summary))

    assert one(
        connection,
        "select speedup, [dot.speedup for dot in other_dots] from pair where scope = 'pair'",
    ) == (pytest.approx(1.1), [1.5])


# ---- as they are drawn --------------------------------------------------------------------------
def headings(connection: duckdb.DuckDBPyConnection) -> list[str]:
    groups, _ = strips.by_method(strips.main_rows(connection))
    return [f"{group.label}: {group.finding}; {group.spread}" for group in groups]


def on_cards(*speedups: float, half_width: float = 0.02) -> duckdb.DuckDBPyConnection:
    """Measured figures over all tasks, each on a separate card."""
    return database(
        *(
            campaign(
                speedup,
                within=(speedup / (1 + half_width), speedup * (1 + half_width)),
                task=None,
                gpu=f"A {number}",
            )
            for number, speedup in enumerate(speedups)
        )
    )


def test_a_heading_counts_faster_and_slower_pairs_and_gives_the_usual_speedup() -> None:
    published = printed(
        *({"person": "ada", "device": f"card {at}", "speedup": at / 10} for at in (9, 17, 21)),
        {"person": "ada", "device": "card 0", "speedup": 1.04},
    )
    # Two rows have no usual value.
    two = printed(
        *({"person": "ada", "device": f"card {at}", "speedup": at / 10} for at in (17, 21))
    )

    assert headings(published) == [
        # 1.04 is neither, and the median of 0.9, 1.04, 1.7 and 2.1 is 1.37.
        "MTP: faster on 2 of 4 pairs, slower on 1, median 1.4×; 0.90× to 2.10×"  # noqa: RUF001 - as printed
    ]
    assert headings(two) == ["MTP: faster on 2 of 2 pairs; 1.70× to 2.10×"]  # noqa: RUF001 - as printed
    assert headings(on_cards(1.6, 1.5, 0.6))[0].startswith(
        "Draft model: faster on 2 of 3 pairs, slower on 1"
    )
    # Intervals that contain 1 show no direction.
    assert headings(on_cards(1.3, 1.2, half_width=0.6))[0].startswith(
        "Draft model: faster on 0 of 2 pairs;"
    )


def test_a_row_has_the_colour_of_its_direction_and_the_grade_of_its_evidence() -> None:
    def drawn(connection: duckdb.DuckDBPyConnection) -> strips.Strip:
        return strips.strip(strips.main_rows(connection)[0])

    clear, unclear = (drawn(on_cards(1.6, half_width=width)) for width in (0.02, 0.9))
    alone, even = (drawn(printed({"person": "ada", "speedup": each})) for each in (0.5, 1.04))
    several = drawn(printed(*({"person": each, "speedup": 2.0} for each in ("ada", "bob"))))

    assert clear.figure == f"≥ {clear.words.partition('[')[2][:4]}×"  # noqa: RUF001 - as printed
    assert unclear.figure == "1.60×"  # noqa: RUF001 - as printed
    assert [each.style for each in (clear, unclear, alone, even, several)] == [
        "measured dm-strip--gain dm-strip--A",
        "measured dm-strip--flat dm-strip--A",
        "published dm-strip--loss dm-strip--C",
        "published dm-strip--flat dm-strip--C",
        "published dm-strip--gain dm-strip--B",
    ]


def test_the_speed_after_is_the_speed_before_times_the_figure() -> None:
    def rates(*figures: dict[str, object]) -> tuple[str, str]:
        connection = printed(*figures)
        return strips.rates(strips.main_rows(connection)[0])

    ada = {"person": "ada", "speedup": 1.5, "plain": 40.0}

    assert rates(ada) == ("40.0", "60.0")
    # Medians over people, on a log scale: 40 and 90 are 60, 1.5 and 1.5 are 1.5.
    assert rates(ada, ada | {"person": "bob", "plain": 90.0}) == ("≈ 60.0", "90.0")
    assert rates(ada | {"plain": None}) == ("", "")


def test_each_person_counts_with_the_depth_nearest_to_the_usual_one_and_as_published() -> None:
    # The usual depth of MTP is 2, although four people tried 4. Cyd tried only depth 2 and Dan
    # only 16; nothing is converted, so the figures are 1.0, 0.9, 0.9 and 9.0.
    both = [
        {"person": person, "depth": depth, "speedup": gain * speedup, "plain": 10.0}
        for person, gain in (("ada", 1.0), ("bob", 0.9))
        for depth, speedup in ((2, 1.0), (4, 2.0))
    ]
    eve, fay = (
        {"person": person, "depth": 4, "speedup": 2.1, "device": "another"}
        for person in ("eve", "fay")
    )
    cyd = {"person": "cyd", "depth": 2, "speedup": 0.9, "plain": 20.0}
    dan = {"person": "dan", "depth": 16, "speedup": 9.0}
    connection = printed(*both, eve, fay, cyd, dan)

    found = {row.device: row for row in strips.main_rows(connection)}["card"]

    assert (found.people, found.dots) == (4, [0.9, 1.0, 9.0])
    assert found.speedup == pytest.approx((0.9 * 1.0) ** 0.5)
    assert strips.setting(found) == "MTP 2–16"  # noqa: RUF001 - as printed
    # Dan stated only a ratio: the rates are those of three people.
    assert (found.rated, found.baseline_tps) == (3, pytest.approx(10.0))
    assert "rates of 3" in strips.strip(found).words


def test_a_ring_is_a_person_and_a_dot_is_one_of_several_figures_of_a_person() -> None:
    # Ada's median of 1.2, 1.5 and 1.8 is 1.5, so her ring is there; the other two are dots.
    three = ({"person": "ada", "speedup": speedup} for speedup in (1.2, 1.5, 1.8))
    (found,) = strips.main_rows(printed(*three, {"person": "bob", "speedup": 1.1}))

    assert (found.people, found.dots) == (2, [1.1, 1.5])
    assert [dot["speedup"] for dot in found.other_dots] == [1.2, 1.8]
    assert (found.least, found.most) == (1.1, pytest.approx(1.5))
    assert (found.lowest, found.highest) == (1.1, 1.8)


def test_an_end_of_the_axis_says_that_figures_may_lie_beyond_it() -> None:
    assert strips.axis()[0] == ("\N{LESS-THAN OR EQUAL TO}0.4", 0.0)
    assert strips.position(0.07) == 0.0
    assert strips.axis()[-1] == ("\N{GREATER-THAN OR EQUAL TO}5", 100.0)


def test_common_devices_are_in_sight_and_the_rest_is_folded() -> None:
    cards = ("RTX 3060 12 GB", "RTX 4090 24 GB", *(f"card {number}" for number in range(150)))
    many = printed(*({"person": "ada", "device": each, "speedup": 1.5} for each in cards))

    ((group,), left_out) = strips.by_method(strips.main_rows(many))

    assert (len(group.strips), len(group.folded), left_out) == (10, 110, 32)
    assert {"RTX 3060 12 GB", "RTX 4090 24 GB"} <= {each.row.device for each in group.strips}


@pytest.mark.nightly
def test_a_large_collection_lists_the_best_known_rows_and_a_page_stays_light() -> None:
    many = printed(
        *(
            {"person": "ada", "device": f"card {number}", "method": method, "speedup": 1.5}
            for method, count in (("mtp", 400), ("dflash", 20))
            for number in range(count)
        ),
        {"person": "bob", "device": "card 7", "method": "mtp", "speedup": 1.5},
    )
    rows(many, "from pair")  # makes it
    many.execute(
        "update pair set other_dots = list_transform(range(40), lambda other:"
        " {'tier': 'published', 'speedup': 0.5 + hash(device, other) % 300 / 100.0})"
    )

    ((group,), left_out) = strips.by_method(strips.main_rows(many))
    page = home(many, Site(bundle="x"), ()).text

    # A device has one row, with the method that most people tried with the model.
    assert (len(group.strips), len(group.folded), left_out) == (10, 110, 280)
    assert "card 7" in {each.row.device for each in group.strips}
    assert "300 more pairs" in page  # of both methods
    assert len(gzip.compress(page.encode())) < 20_000


def test_rows_of_unknown_accounts_are_in_sight_beside_published_ones() -> None:
    (base,) = strips.main_rows(printed({"person": "ada", "speedup": 1.5}))
    published = [base._replace(device=f"card {n}", device_label=f"card {n}") for n in range(40)]
    sent = [
        row._replace(tier="measured", backing=2, target=f"new {row.device}") for row in published
    ]

    ((group,), _) = strips.by_method([*published, *sent])

    shown = [(each.grade, each.row.backing, "unknown" in each.words) for each in group.strips]
    assert shown == [("C", 0, False)] * 7 + [("A", 2, False)] * 3


def test_small_groups_are_shown_whole_and_large_ones_cut() -> None:
    many = printed(
        *(
            {"person": "ada", "device": f"card {method} {n}", "method": method, "speedup": 2}
            for method, count in (("mtp", 200), ("dflash", 150), ("eagle3", 30))
            for n in range(count)
        )
    )

    groups, left_out = strips.by_method(strips.main_rows(many))

    # 30 of 120 are the small group's; the others share 90.
    assert [len(each.strips) + len(each.folded) for each in groups] == [45, 45, 30]
    assert left_out == 260


def test_measured_groups_lead_once_five_people_have_one_model() -> None:
    base = strips.main_rows(printed({"person": "ada", "speedup": 1.5}))[0]
    published = [base._replace(device=f"card {each}") for each in range(9)]

    def first(people: int, parameters: float) -> str:
        own = base._replace(
            method="dflash",
            method_label="DFlash",
            tier="measured",
            people=people,
            parameters=parameters,
        )
        return strips.by_method([*published, own])[0][0].label

    assert first(5, 8e9) == "DFlash"
    assert (first(4, 8e9), first(9, 1e9)) == ("MTP", "MTP")


def test_a_method_with_few_pairs_has_no_group_beside_others() -> None:
    many = printed(
        *({"person": "ada", "device": f"card {n}", "speedup": 1.5} for n in range(3)),
        {"person": "ada", "device": "card 1", "method": "dflash", "speedup": 2.0},
    )

    groups, left_out = strips.by_method(strips.rows_by_method(many))

    assert ([group.label for group in groups], left_out) == (["MTP"], 1)


def test_home_is_whole_without_a_result_and_with_two() -> None:
    nothing = home(database(), Site(bundle="x"), ()).text
    two = home(on_cards(1.6, 1.5), Site(bundle="x"), ()).text

    assert "Nobody has sent a result yet." in nothing
    assert "Be the first" in nothing
    assert "dm-legend" not in nothing
    assert two.count('<li class="dm-strip ') == 2


def test_the_picture_of_a_readme_is_whole_by_itself(tmp_path: Path) -> None:
    put(tmp_path / "results", sample(blocks=1))

    readme = (first_screen.ROOT / "README.md").read_text("utf-8")
    written = first_screen.files(tmp_path / "results", readme)

    light, dark = (written[f"{first_screen.IMAGES}/map-{scheme}.svg"] for scheme in SCHEMES)
    for svg in (light, dark):
        tags = [node.tag.rpartition("}")[2] for node in ET.fromstring(svg).iter()]  # noqa: S314 - our own
        assert {"svg", "rect", "text", "circle"} <= {*tags}
        assert "a" not in tags
    assert light != dark
