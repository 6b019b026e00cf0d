"""Each frequent question has its own page, with the finding as its title."""

import re

import pytest

from pipeline.site.pages import evidence_file
from pipeline.site.pages.answer_card import card_of, others, strip
from pipeline.site.pages.answer_pages import CommonAnswer, common_answers
from planner.answer import Answer
from planner.evidence import pairs
from tests.pipeline.tables import real_database


@pytest.fixture(scope="module")
def common() -> tuple[CommonAnswer, ...]:
    return tuple(common_answers(pairs()))


def answer_about(common: tuple[CommonAnswer, ...], asked: str) -> Answer:
    return next(each.found for each in common if each.asked == asked)


def test_twelve_questions_have_a_page_that_says_finding_figure_and_evidence(
    common: tuple[CommonAnswer, ...],
) -> None:
    titles = {each.asked: each.finding for each in common}

    assert len({each.address for each in common}) == 12
    assert "answers/rtx-3060-12-gb-qwen3-14b/" in {each.address for each in common}
    people = [-each.place[1] for each in common]
    assert people == sorted(people, reverse=True)
    assert people[0] > 1
    assert re.fullmatch(
        r"(worth a try|probably faster), expected 1\.\d\d\N{MULTIPLICATION SIGN}",
        titles["RTX 4090 24 GB with Qwen3 32B"],
    )


def test_home_lists_them_from_the_results_of_the_site() -> None:
    found = real_database()

    common = common_answers(evidence_file.pairs(found))

    assert len(list(common)) == 12


def test_the_card_has_verdict_figures_commands_and_evidence(
    common: tuple[CommonAnswer, ...],
) -> None:
    found = answer_about(common, "RTX 4090 24 GB with Qwen3 32B")

    card = card_of(found, machine="RTX 4090", model="Qwen3 32B", address=None)

    assert card.verdict in ("Probably", "Try it")
    assert card.way.startswith("the draft qwen3-0.6b at depth ")
    assert re.fullmatch(r"predicted, [789]\d % chance of a gain", card.support)
    assert (card.use or "").startswith("llama-server -hf Qwen/Qwen3-32B-GGUF:Q5_K_M -hfd ")
    assert (card.measure or "").startswith("python -m harness qwen3-32b:q5_k_m qwen3-0.6b --quick ")
    assert "figures, published later, were inside such intervals" in (card.accuracy or "")
    assert (card.look, card.grade) == ("dm-answer--gain dm-answer--D", "D")
    assert card.others == "N-gram simple only for text that repeats"


def test_other_methods_have_peoples_figures_first_then_what_is_expected(
    common: tuple[CommonAnswer, ...],
) -> None:
    first, *rest = (others(answer_about(common, "RTX 5090 32 GB with Qwen3.6 27B")) or "").split(
        " \N{MIDDLE DOT} "
    )

    assert re.fullmatch(r"DFlash \d\.\d\d\N{MULTIPLICATION SIGN} \(1 person\)", first)
    assert [re.sub(r"about \d\.\d", "about 1.5", each) for each in rest] == [
        "Draft model about 1.5\N{MULTIPLICATION SIGN}",
    ]


def test_marks_are_where_the_map_has_them() -> None:
    # The axis has a factor of 12.5, and each part is its logarithm: 0.4 to 1 is 0.3628 of it.
    assert strip(5, 0.4, 9) == {"even": 36.28, "at": 100, "low": 0, "width": 100}
