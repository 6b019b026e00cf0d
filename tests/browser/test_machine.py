"""A visitor gets a verdict in two clicks: the engine's, with its evidence and commands."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import msgspec
import pytest
from playwright.sync_api import Page, ViewportSize, expect

from pipeline.site.pages import answer_files
from planner.answer import answer
from planner.answer_json import as_json
from planner.evidence import PairFigure
from planner.listed import listed_machines, question_by_name
from planner.machines import described_computer
from schemas.vocabulary import say
from tests.browser.pages import LAPTOP, NARROW, WIDE, comes_to, lent, px_too_wide, watch
from tests.nightly import few

pytestmark = pytest.mark.browser
CARD, MODEL = "#dm-machine-card", "#dm-machine-model"
ANSWER = ".dm-machine__answer .dm-answer"
BOX = f"document.querySelector({ANSWER!r}).getBoundingClientRect()"
TOP, BOTTOM = f"{BOX}.top", f"{BOX}.bottom"
MOST_WORDS, QUESTIONS, SHARES = 180, 40, 4
SMALLEST: ViewportSize = {"width": 320, "height": 700}


@pytest.fixture
def page(tab: Page, base: str) -> Iterator[Page]:
    """The home page, which must have no complaints."""
    complaints: list[str] = []
    with lent(tab) as page:
        watch(page, base, complaints)
        page.goto(base)
        yield page
    assert complaints == []


def answered(page: Page, card: str, model: str = "") -> str:
    """Type a question, click once and press Enter; return the answer."""
    page.locator(CARD).click()
    page.locator(CARD).fill(card)
    page.locator(MODEL).fill(model)
    page.keyboard.press("Enter")
    expect(page.locator('.dm-machine[data-state="answered"]')).to_be_visible()
    return page.locator(ANSWER).inner_text()


# Questions of visitors, the possible verdicts, and the required words of the answer.
VISITORS: dict[tuple[str, str, str], tuple[set[str], tuple[str, ...]]] = {
    ("RTX 3070 8 GB", "8B", "all"): ({"No reason to"}, ("RTX 3070 8 GB", "predicted")),
    ("M3 Max", "Qwen3 8B", "all"): ({"No reason to"}, ("Apple M3 Max", "Qwen3 8B")),
    ("2 x 3090", "Qwen3 32B", "code"): (
        {"Probably"},
        ("2 × RTX 3090", "over all tasks, not Code alone"),  # noqa: RUF001
    ),
    ("RTX 5060 Ti 16GB", "Qwen3.8 27B", "all"): ({"Probably"}, ("in IQ4_XS",)),
    ("2 GB", "70B", "all"): (
        {"No"},
        ("answered as 4 GB card: 2 GB are not listed", "does not fit"),
    ),
}


@pytest.mark.parametrize("size", [LAPTOP, NARROW], ids=["laptop", "phone"])
@pytest.mark.parametrize("asked", few(VISITORS, 1))
def test_a_visitor_has_a_verdict_and_commands_above_the_fold(
    page: Page, base: str, asked: tuple[str, str, str], size: ViewportSize
) -> None:
    card, model, task = asked
    verdicts, says = VISITORS[asked]
    page.set_viewport_size(size)
    page.goto(f"{base}?{urlencode({'card': card, 'model': model, 'for': task})}")
    expect(page.locator('.dm-machine[data-state="answered"]')).to_be_visible()

    answer = page.locator(ANSWER)
    text = answer.inner_text()
    assert answer.locator("h2 strong").inner_text() in verdicts
    for words in says:
        assert words in text
    commands = " ".join(answer.locator("pre, button").all_inner_texts())
    assert len(text.split()) - len(commands.split()) <= MOST_WORDS
    if verdicts != {"No"}:
        assert re.search(r"[\d.]+\s→\s+[\d.]+\s+tokens/s", text)
    expect(answer).to_be_focused()
    # On a phone, the evidence may be below the commands and the fold.
    lines = f"document.querySelector({f'{ANSWER} .dm-answer__lines'!r}).getBoundingClientRect()"
    bottom = BOTTOM if size == LAPTOP else f"{lines}.bottom"
    assert comes_to(page, f"{TOP} >= 0 && {bottom} < innerHeight + 1", expected=True)
    assert page.evaluate("window.shifts") <= 0.01


def test_the_own_acceptance_gives_its_gain_and_stays_in_the_address(page: Page, base: str) -> None:
    page.goto(f"{base}?{urlencode({'card': 'RTX 5090', 'model': 'Qwen3.8-27B', 'accepted': 62})}")
    card = page.locator(ANSWER)
    field, result = card.locator("input"), card.locator("output")

    expect(result).to_have_text(re.compile(r": \d\.\d\d. \[\d\.\d\d, \d\.\d\d\], about \d+"))
    first = result.inner_text()
    field.fill("90")

    expect(result).not_to_have_text(first)
    assert "accepted=90" in page.url
    field.fill("")
    expect(result).to_have_text("")
    assert "accepted" not in page.url


@pytest.mark.parametrize("share", few(range(SHARES), 1))
def test_the_page_and_the_engine_of_answers_agree(page: Page, site: Path, share: int) -> None:
    """Random questions give the object of `plan --json`, computed from the site's evidence."""
    shown = site / "assets"
    index = json.loads((shown / "answers/index.json").read_bytes())
    pairs = msgspec.json.decode((shown / "evidence.json").read_bytes(), type=tuple[PairFigure, ...])
    by_model = {key: [x for x in pairs if x.model == key] for key in {x.model for x in pairs}}
    gpus = [each for each in listed_machines(pairs) if each.kind == "gpu" and each.gib]
    rng = random.Random(51)  # noqa: S311 - questions of a test
    asked = [(rng.choice(gpus), rng.choice(index["models"])) for _ in range(QUESTIONS)]

    for machine, (model, label, *_) in asked[share::SHARES]:
        computer = described_computer(machine.words)
        name = json.loads((shown / f"answers/{model}.json").read_bytes())["name"]
        question = question_by_name(name, computer, pairs=by_model)
        assert question is not None
        found = answer(question)
        said = cast("dict[str, Any]", as_json(found))
        words = {"card": machine.name, "model": label}
        answered(page, *words.values())
        card = page.locator(ANSWER)
        verdict = card.locator("h2 strong").inner_text()

        assert (words, verdict) == (words, said["verdict"])
        used = card.locator("[data-slot=use]")
        assert (used.inner_text() if used.count() else None) == said["command"], words
        if said["speedup"] and said["offloaded_layers"] == said["layers"]:
            figures = card.locator("[data-slot=speedup]").inner_text()
            # The object is rounded, so printed values must not be rounded twice.
            judged = found.judged
            assert judged is not None
            assert judged.gain is not None
            assert figures == say.times(judged.gain.estimate), words
            plain = card.locator("[data-slot=before]").inner_text()
            assert plain == say.rate(found.alone.tps.estimate), words


@pytest.mark.nightly
@pytest.mark.parametrize("share", range(SHARES))
def test_the_form_shows_every_row_of_the_map(page: Page, base: str, site: Path, share: int) -> None:
    rows = json.loads((site / "data/pairs.json").read_bytes())
    rows = [row for row in rows if row["tier"] == "published"]  # the others have hostile names
    assert len(rows) > 200

    for row in rows[share::SHARES]:
        words = {"card": row["device_label"], "model": row["target_label"]}
        page.goto(f"{base}?{urlencode(words)}")
        expect(page.locator('.dm-machine[data-state="answered"]')).to_be_visible()
        text = page.locator(ANSWER).inner_text()
        assert say.times(row["speedup"]) in text, (words, text)
        assert row["method_label"] in text, (words, text)


SLOTS = """(root) => Object.fromEntries([...root.querySelectorAll('[data-slot]')]
  .map((each) => [each.dataset.slot, each.textContent.replaceAll('\u00a0', ' ')]))"""
MARKS = """(root) => [...root.querySelectorAll('svg > *')]
  .map((each) => [...each.attributes].map(({ value }) => Math.round(parseFloat(value)) || 0))"""


def test_the_form_draws_what_the_page_of_the_question_has(page: Page) -> None:
    links = page.locator("#asked a").evaluate_all("all => all.map((each) => each.href)")
    assert len(links) == 12
    for link in (links[0], links[-1]):
        page.goto(link)
        own = page.locator(".dm-answer")
        has = [own.evaluate(SLOTS), own.evaluate(MARKS)]
        page.get_by_text("Ask about another card").click()
        expect(page.locator('.dm-machine[data-state="answered"]')).to_be_visible()
        drawn = page.locator(ANSWER)

        assert [drawn.evaluate(SLOTS), drawn.evaluate(MARKS)] == has


def test_a_command_is_copied(page: Page) -> None:
    answered(page, "rtx5060ti 16gb", "qwen3 14b")

    copy = page.locator(f"{ANSWER} button").first
    copy.click()
    expect(copy).to_have_text("Copied")
    line = page.evaluate("navigator.clipboard.readText()")
    assert line == page.locator(f"{ANSWER} code").first.inner_text()
    assert line.startswith("llama-server -hf Qwen/Qwen3-14B-GGUF:Q8_0 ")


def test_the_question_is_kept_in_the_address_and_carried_along(page: Page, base: str) -> None:
    answered(page, "5060 Ti", "14b")
    page.locator("#dm-machine-for").select_option("math")
    expect(page).to_have_url(f"{base}?card=5060+Ti&model=14b&for=math")
    expect(page.locator(ANSWER)).to_contain_text("not Math alone")
    page.reload()
    expect(page.locator(ANSWER)).to_contain_text("not Math alone")
    expect(page.locator(CARD)).to_have_value("5060 Ti")

    onward = page.locator(f"{ANSWER} .dm-answer__more a").evaluate_all(
        "all => all.map((each) => each.href)"
    )
    assert onward == [
        f"{base}explore/?device=rtx-5060-ti-16-gb&target=qwen2-5-14b-instruct&task=math"
    ]


def test_an_unknown_name_gets_the_nearest_ones(page: Page) -> None:
    text = answered(page, "RTX 4075", "Qwen4")

    assert "“rtx 4075” is not a known card; nearest: RTX 4070" in text
    assert "No model of that name (“Qwen4”); nearest: Qwen" in text


def test_a_whole_sentence_is_shown_in_parts_that_can_be_corrected(page: Page) -> None:
    text = answered(page, "2x3090 qwen3.8 27b q5 64k vllm")
    parts = page.locator(".dm-chips > *").all_inner_texts()

    assert "2 × RTX 3090 48 GB · Qwen3.8 27B" in text  # noqa: RUF001
    assert [re.sub(r"\s+", " ", part) for part in parts] == [
        "2 × RTX 3090 48 GB",  # noqa: RUF001
        "Qwen3.8 27B",
        "Q8_0 usual here",
        "llama.cpp assumed",
        "32 GB main memory assumed",
        "all tasks",
        "Q5_K_M only in the terminal",
        "vllm only in the terminal",
        "65536 tokens only in the terminal",
    ]
    page.locator(".dm-chips button").nth(1).click()
    page.keyboard.type("gpt-oss 20b")
    page.keyboard.press("Enter")
    expect(page.locator(".dm-chips button").nth(1)).to_contain_text("gpt-oss-20b")
    page.get_by_role("button", name="all tasks").click()
    expect(page.locator("#dm-machine-for")).to_be_focused()


def test_the_chips_the_card_and_the_form_are_apart_and_nothing_crosses_the_focus(
    page: Page,
) -> None:
    answered(page, "rtx 5090 qwen3.8 27b")
    form, chips, card = (
        page.locator(each).bounding_box() for each in ("#mine", ".dm-chips", ANSWER)
    )

    assert form is not None
    assert chips is not None
    assert card is not None
    assert chips["y"] - form["y"] - form["height"] >= 8
    ring = page.locator(ANSWER).evaluate(
        "(card) => { const { outlineWidth, outlineOffset } = getComputedStyle(card);"
        " return parseFloat(outlineWidth) + parseFloat(outlineOffset); }"
    )
    assert 0 < ring < card["y"] - chips["y"] - chips["height"]
    grade, rings = page.locator(f"{ANSWER} [data-slot=grade]"), page.locator(f"{ANSWER} circle")
    expect(grade).to_have_text("B")
    assert rings.count() > 3  # as on the map's row


def test_an_unknown_model_is_answered_by_its_size(page: Page) -> None:
    text = answered(page, "Quadro K6000 12GB", "Cedar 8B")

    assert "“quadro k6000” is not a known card; its speed is a guess" in text
    assert "cedar-8b is not listed: a model of 8B, whose shape is not known" in text


def test_a_card_alone_is_asked_for_a_model(page: Page) -> None:
    text = answered(page, "RTX 4090")

    assert "Name a model for RTX 4090 24 GB, or its size" in text


@pytest.mark.nightly
def test_a_model_that_was_named_leads_to_its_page(page: Page, base: str) -> None:
    answered(page, "3090", "Qwen3.8 27B")

    page.locator(f"{ANSWER} .dm-answer__asked a").click()
    expect(page).to_have_url(f"{base}models/qwen3-8-27b/")


def test_hostile_text_stays_text(page: Page) -> None:
    text = answered(page, '<img src=x onerror="boom()">', "((")

    assert 'No machine of that name (“<img src=x onerror="boom()">”)' in text


def test_nothing_is_loaded_before_a_visitor_asks(tab: Page, base: str) -> None:
    with lent(tab) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(base, wait_until="networkidle")
        before = [url for url in asked if answer_files.FOLDER in url or "answer.js" in url]
        with page.expect_response(f"**/{answer_files.FOLDER}/index.json"):
            page.locator(CARD).click()

    assert before == []


def test_the_answer_fits_a_phone_and_a_wide_screen(tab: Page, base: str) -> None:
    for viewport in (SMALLEST, NARROW, WIDE):
        with lent(tab, viewport) as page:
            page.goto(f"{base}?card=RTX+4060&model=7B")
            expect(page.locator(ANSWER)).to_be_visible()

            assert px_too_wide(page) == 0


def test_without_javascript_the_form_leads_to_the_list(still_tab: Page, base: str) -> None:
    still_tab.set_viewport_size(NARROW)
    still_tab.goto(base)
    still_tab.locator(CARD).fill("RTX 4060")
    still_tab.get_by_role("button", name="Does it help me?").click()

    expect(still_tab).to_have_url(f"{base}?card=RTX+4060&model=&for=all&ram=")
    expect(still_tab.locator("li.dm-strip").first).to_be_visible()


@pytest.mark.nightly
def test_explore_understands_memory_and_never_ends_in_nothing(page: Page, base: str) -> None:
    page.goto(f"{base}explore/?words=12gb")
    page.wait_for_selector('#dm-explore[data-state="ready"]')
    rows = page.locator("#dm-cells tbody tr")
    assert rows.count() > 0
    for row in rows.all():
        assert "12 GB" in row.locator("th").inner_text()

    page.locator("#dm-explore-words").fill("rtx5090 70b")
    page.get_by_text("Ask what to expect").click()
    expect(page.locator(ANSWER)).to_contain_text("barely fits")


def test_the_search_of_the_site_leads_on(page: Page, base: str) -> None:
    page.goto(f"{base}slower/")
    page.locator('[data-md-component="search-query"]').fill("m3max 64gb")
    page.locator(".md-search-result .dm-question-form a").click()
    expect(page.locator(ANSWER)).to_contain_text("M3 Max")


def test_a_filter_hides_rows_and_stays_in_the_address(tab: Page, base: str) -> None:
    with lent(tab) as page:
        page.goto(base)
        rows = page.locator("li.dm-strip:visible")
        before = rows.count()
        page.locator(".dm-filter summary").click()
        page.get_by_label("Evidence").select_option("A")
        expect(page).to_have_url(f"{base}?grade=A")
        measured = page.locator('li.dm-strip[data-grade="A"]')

        expect(rows).to_have_count(measured.count())
        assert 0 < measured.count() != before
        expect(page.locator(".dm-filter output")).to_have_text(re.compile(r"^\d+ pairs?$"))
        # A heading counts all rows.
        expect(page.locator(".dm-group h2 small:visible")).to_have_count(0)
        page.reload()
        expect(rows).to_have_count(measured.count())
        page.get_by_label("Evidence").select_option("any")
        expect(page).to_have_url(base)
        expect(rows).to_have_count(before)
