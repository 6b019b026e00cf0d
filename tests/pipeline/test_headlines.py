"""Answers of pages and first rows never rely on a single unknown account."""

from dataclasses import replace

from pipeline.site.pages import evidence_file, strips
from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.model import Site
from pipeline.site.tally import spread, tally
from tests.pipeline.tables import Example, campaign, database, one, print_figures, rows

EVE = "eve"
SITE = Site(bundle="")


def gain(contributor: str, speedup: float, **more: object) -> Example:
    within = (speedup / 1.005, speedup * 1.005)
    return campaign(speedup, within=within, contributor=contributor, **{"task": None, **more})  # type: ignore[arg-type]


KNOWN = [gain("ada", 1.4, task="code"), gain("bob", 1.38, task="code")]


def test_the_answer_of_a_page_is_that_of_known_people_and_of_their_choices_alone() -> None:
    strange = [gain(EVE, 3.0, depth=depth, task="code") for depth in range(5, 16)]
    query = "select candidate, choices, interval_low from best where place = 'device'"

    honest, joined = database(*KNOWN), database(*KNOWN, *strange, new=(EVE,))

    assert one(joined, query) == one(honest, query)


def test_a_page_says_that_its_answer_rests_on_one_unknown_person() -> None:
    (page,) = place_pages(database(gain(EVE, 3.0), new=(EVE,)), SITE, ["device"])
    (known,) = place_pages(database(gain("ada", 3.0)), SITE, ["device"])

    assert "No contributor known to the maintainers" in page.text
    assert "No contributor known to the maintainers" not in known.text


def test_a_page_begins_with_the_answer_for_the_pair_that_most_people_published() -> None:
    row = {"device": "RTX 3090 24 GB", "target": "Qwen3.8-27B", "method": "mtp", "depth": 2}
    connection = print_figures(
        database(),
        *({**row, "person": who, "speedup": 1.5, "plain": 40.0} for who in ("ada", "bob")),
    )
    connection.execute("update published_rate set device_label = device, vram_gib = 24")
    pairs = tuple(evidence_file.pairs(connection))

    (device,) = place_pages(connection, SITE, ["device"], pairs=pairs)
    (bare,) = place_pages(connection, SITE, ["device"])

    verdict = device.text.index('data-slot="verdict"')
    assert verdict < device.text.index('class="dm-ranked"')
    assert "--spec-type draft-mtp" in device.text  # the command that the answer recommends
    assert 'data-slot="verdict"' not in bare.text


def test_first_rows_are_those_of_several_or_known_people() -> None:
    here = {"gpu": "NVIDIA GeForce RTX 4090", "vram_mib": 24564}
    made = [gain("ada", 1.4), gain(EVE, 3.0, **here), gain("dan", 2.0, parameters=1_000_000_000)]
    connection = database(
        *made, gain("fay", 2.0, parameters=1_000_000_000), new=(EVE, "dan", "fay")
    )

    ranked = strips.ranked(strips.main_rows(connection))

    assert [(row.speedup, row.backing) for row in ranked] == [(1.4, 0), (2.0, 1), (3.0, 2)]
    people = [strips.words(row)[2] for row in ranked]
    assert people == ["1 person", "2 people, unknown", "1 person, unknown"]
    assert tally(strips.figures(ranked), "pair").startswith("faster on 1 of 1 pair")
    assert spread(strips.figures(ranked)) == "1.40×"  # noqa: RUF001 - as printed


def test_a_measurement_of_one_unknown_account_ranks_behind_published_figures() -> None:
    for new, tiers in (((EVE,), ["published", "measured"]), ((), ["measured", "published"])):
        connection = database(gain(EVE, 3.0), new=new)
        print_figures(connection, {"person": "gus", "speedup": 1.2})
        connection.execute(
            "update published_rate set device = setup.device, target = setup.target from setup"
        )
        order = "select tier from pair where scope = 'pair' and task = 'all' order by tier_order"

        assert [tier for (tier,) in rows(connection, order)] == tiers


def test_a_stranger_with_a_newer_suite_hides_no_row() -> None:
    strange = gain(EVE, 0.5)
    suite = replace(strange.submission.suite, version="9.0.0")
    strange = replace(strange, submission=replace(strange.submission, suite=suite))
    query = "select speedup from pair where scope = 'pair' and task = 'all'"

    assert one(database(gain("ada", 1.4), strange, new=(EVE,)), query) == (1.4,)
