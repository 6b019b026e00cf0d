"""A visitor who pastes two runs reads why one is slower, and nothing leaves the browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import NARROW, lent, px_too_wide, watch

pytestmark = pytest.mark.browser
EXAMPLES = Path(__file__).parents[2] / "site_src" / "assets" / "examples"
PLAIN = (EXAMPLES / "llama-server-b10068-off.log").read_text("utf-8")
DRAFT = (EXAMPLES / "llama-server-b10068-draft.log").read_text("utf-8")


@pytest.fixture
def page(tab: Page, base: str, complaints: list[str]) -> Iterator[Page]:
    with lent(tab, NARROW) as page:
        watch(page, base, complaints).goto(f"{base}slower/")
        page.locator(".dm-slower[data-state=ready]").wait_for()
        yield page
    assert complaints == []


def test_two_pasted_logs_give_a_verdict_and_its_reasons(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.get_by_label("Without speculation", exact=True).fill(PLAIN)
    page.get_by_label("With speculation", exact=True).fill(DRAFT)

    answer = page.locator("[data-part=answer]")
    # Three requests that differ much: 0.23, with an interval from 0.06 to 0.81.
    expect(answer).to_contain_text("● no clear difference")
    expect(answer).to_contain_text("Drafting is slow")
    expect(answer).to_contain_text("3 requests with speculation, paired by their order")
    assert [each for each in asked if not each.endswith(".js")] == []  # only the readers
    assert "?" not in page.url
    assert px_too_wide(page) == 0


def test_typed_numbers_stay_in_the_address_and_come_back(page: Page, base: str) -> None:
    page.get_by_text("Type numbers instead").click()
    for label, value in (
        ("Tokens per second, without speculation", "40"),
        ("Tokens per second, with speculation", "25"),
        ("Tokens drafted", "500"),
        ("Tokens accepted", "200"),
        ("Depth (longest draft)", "8"),
    ):
        page.get_by_label(label, exact=True).fill(value)

    answer = page.locator("[data-part=answer]")
    expect(answer).to_contain_text("72 % breaks even")
    assert page.url == f"{base}slower/?plain=40&spec=25&drafted=500&accepted=200&depth=8"
    page.reload()
    expect(answer).to_contain_text("0.62")


def test_text_that_cannot_be_read_gives_one_line(page: Page) -> None:
    page.get_by_label("With speculation", exact=True).fill("<img src=x onerror=boom()> what?")

    expect(page.locator("[data-part=answer]")).to_have_text(
        "Nothing to read in the text with speculation: no line “eval time = … ms / … tokens”,"
        " no “timings”, no draft counters. You can type the speed above."
    )


def test_two_swapped_texts_are_read_the_other_way_round(page: Page) -> None:
    page.get_by_label("Without speculation", exact=True).fill(DRAFT)
    page.get_by_label("With speculation", exact=True).fill(PLAIN)

    answer = page.locator("[data-part=answer]")
    expect(answer).to_contain_text("the two texts are swapped")
    expect(answer).to_contain_text("● no clear difference")


def test_a_single_log_that_drafted_is_the_run_with_speculation_in_either_field(page: Page) -> None:
    page.get_by_label("Without speculation", exact=True).fill(DRAFT)

    answer = page.locator("[data-part=answer]")
    expect(answer).to_contain_text("it is read as the run with speculation")
    expect(answer).to_contain_text("so it pays only if it costs less")
    expect(answer).not_to_contain_text("Nothing to read")


def test_a_log_of_vllm_tells_its_rounds_its_speed_and_its_requests(page: Page) -> None:
    rate = "Avg generation throughput: {} tokens/s, Running: 8 reqs, Waiting: 0 reqs\n"
    page.get_by_label("Without speculation", exact=True).fill(rate.format(400) + rate.format(0))
    page.get_by_label("With speculation", exact=True).fill(
        "SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 1.00 tokens/s,"
        " Accepted: 150 tokens, Drafted: 400 tokens, Avg Draft acceptance rate: 37.5%\n"
        + rate.format(320)
    )

    answer = page.locator("[data-part=answer]")
    # 150 accepted at 1.5 a round are 100 rounds: 2.5 tokens each, at 320 / 400 of the speed 3.12.
    expect(answer).to_contain_text("2.50 ÷ 3.12 = 0.80×")  # noqa: RUF001 - as printed
    expect(answer).to_contain_text("Several requests share the machine")


def test_an_example_fills_both_fields_with_its_credit(page: Page) -> None:
    page.get_by_role("button", name="Log: few rounds have a draft").click()

    expect(page.locator("[data-part=answer]")).to_contain_text("Few rounds have a draft")
    expect(page.locator("[data-part=credit]")).to_contain_text("SmolLM2-135M-Instruct Q4_1")
    page.locator(".dm-slower").get_by_role("button", name="Clear").click()
    expect(page.locator("[data-part=answer]")).to_contain_text("Paste two runs")


PASTED = Path(__file__).parents[1] / "data" / "pasted"


def paste(page: Page, without: str, with_: str) -> Locator:
    page.get_by_label("Without speculation", exact=True).fill((PASTED / without).read_text("utf-8"))
    page.get_by_label("With speculation", exact=True).fill((PASTED / with_).read_text("utf-8"))
    return page.locator("[data-part=answer]")


def test_only_applicable_remedies_are_listed_with_their_figure(page: Page) -> None:
    answer = paste(page, "m1pro_off.log", "m1pro_on.log")

    expect(answer).to_contain_text("A round costs 42.81 plain tokens, but its 4 tokens would cost")
    expect(answer).to_contain_text("A built-in head should draft for almost nothing")
    expect(answer).not_to_contain_text("Use a smaller")  # a head has no smaller one
    expect(answer).not_to_contain_text("num_speculative_tokens")  # words of another engine


def test_at_depth_one_no_remedy_says_to_draft_fewer(page: Page) -> None:
    page.get_by_text("Type numbers instead").click()
    numbers = {"without": "40", "with": "15"}
    for label, value in numbers.items():
        page.get_by_label(f"Tokens per second, {label} speculation", exact=True).fill(value)
    for label, value in (("drafted", "500"), ("accepted", "300")):
        page.get_by_label(f"Tokens {label}", exact=True).fill(value)
    page.get_by_label("Depth (longest draft)", exact=True).fill("1")

    answer = page.locator("[data-part=answer]")
    expect(answer).to_contain_text("A round costs more than a perfect draft gains")
    expect(answer).not_to_contain_text("smaller depth")
    expect(answer).not_to_contain_text("ewer tokens")
    expect(answer).not_to_contain_text("--spec-draft-n-max")


def test_skipped_and_unreadable_text_is_named(page: Page) -> None:
    answer = paste(page, "cached_repeat_off.log", "cached_repeat_on.log")
    expect(answer).to_contain_text("3 requests in the text with speculation took the prompt from")
    expect(answer).to_contain_text("2.23×")  # noqa: RUF001 - as printed

    page.get_by_label("With speculation", exact=True).fill("eval time = ten ms / 5 tokens\n" * 2)
    expect(answer).to_contain_text(
        "Read in part: 2 lines of llama.cpp’s timings (first: line 1) in the text with speculation"  # noqa: RUF001 - as printed
    )


def test_a_text_of_several_runs_is_listed_and_two_are_chosen(page: Page) -> None:
    answer = paste(page, "sycl_garbled.log", "llama_bench_combo.md")
    expect(answer).to_contain_text("Several runs were found (3). Which two should be compared?")

    page.get_by_label("Without speculation", exact=True).fill("")
    expect(answer).to_contain_text("Several runs were found (2)")
    rows = answer.get_by_role("row")
    rows.nth(1).get_by_role("radio", name="without speculation", exact=True).check()
    rows.nth(2).get_by_role("radio", name="with speculation", exact=True).click()
    expect(answer).to_contain_text("2.05×")  # noqa: RUF001 - 242.56 / 118.2, as printed


def test_with_speeds_alone_the_page_names_the_missing_facts(page: Page) -> None:
    answer = paste(page, "llama_cli_new_off.txt", "llama_cli_new_on.txt")

    expect(answer).to_contain_text("0.85×")  # noqa: RUF001 - as printed
    expect(answer).to_contain_text("do not have the tokens per round")
