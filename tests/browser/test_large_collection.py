"""Explore and Compare read a large collection in parts: one task, or two devices, at a time."""

import re
from collections.abc import Set as AbstractSet
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.test_explore import COMPARED, READY, ROWS, opened, tasks

pytestmark = pytest.mark.browser
LINKS = {"setup", "evidence", "command"}


def only(file: dict[str, Any], facet: str, *names: str) -> dict[str, Any]:
    """The cells of a file that have one of these values."""
    column = file["facets"][facet]
    kept = [at for at, number in enumerate(column["index"]) if column["keys"][number] in names]
    columns = {
        kind: {
            name: {**each, values: [each[values][at] for at in kept]}
            for name, each in file[kind].items()
        }
        for kind, values in (("facets", "index"), ("figures", "values"))
    }
    return {**file, **columns, "rows": len(kept)}


def without(file: dict[str, Any], facets: AbstractSet[str]) -> dict[str, Any]:
    kept = {name: each for name, each in file["facets"].items() if name not in facets}
    return {**file, "facets": kept}


def with_only(file: dict[str, Any], facets: AbstractSet[str]) -> dict[str, Any]:
    return {**without(file, file["facets"].keys() - facets), "figures": {}}


@pytest.fixture
def parts(page: Page, base: str) -> list[str]:
    """Serve the site as if its cells did not fit one file; returns the files that were read."""
    site = page.request
    found = re.search(r'data-cells="\.\./([^"]+)"', site.get(base + "explore/").text())
    assert found
    cells = site.get(base + found[1]).json()
    names = {name: cells["facets"][name]["keys"] for name in ("task", "device")}
    singles = [name for name in names["task"] if name != "all"]
    tasks_of = {name: only(cells, "task", name) for name in names["task"]}
    files = {name: without(each, LINKS) for name, each in tasks_of.items()}
    files |= {f"links-{name}": with_only(each, LINKS) for name, each in tasks_of.items()}
    files |= {name: only(cells, "device", name) for name in names["device"]}
    files["settings"] = {**without(tasks_of["all"], LINKS - {"setup"}), "figures": {}}
    kinds = {"tasks": singles, "devices": names["device"]}
    listed = {kind: {name: f"parts/{name}" for name in each} for kind, each in kinds.items()}
    listed["links"] = {name: f"parts/links-{name}" for name in names["task"]}
    asked: list[str] = []

    def answer(route: Route) -> None:
        name = unquote(route.request.url.rpartition("/")[2])
        asked.append(name)
        route.fulfill(json=listed if name == "listed" else files[name])

    def opens(route: Route) -> None:
        opening = iter(("all", "settings"))  # of the filters, and of two settings side by side
        text = re.sub(
            r'data-cells="[^"]*"',
            lambda _: f'data-cells="../parts/{next(opening)}" data-parts="../parts/listed"',
            route.fetch().text(),
        )
        options = "".join(f'<option value="{name}">{name}</option>' for name in singles)
        text = text.replace(
            '<option value="">Each task', options.join(["<option value=''>All", ""])
        )
        route.fulfill(body=text, content_type="text/html")

    page.route("**/parts/*", answer)
    page.route(re.compile(r"/explore/(\?.*)?$"), opens)
    return asked


def test_a_large_collection_is_read_one_task_at_a_time(
    page: Page, base: str, parts: list[str]
) -> None:
    opened(page, base + "explore/?backend=cuda")
    assert tasks(page) == {"All tasks"}
    assert set(parts) == {"listed", "all"}

    page.get_by_label("Task", exact=True).select_option("code")
    expect(page).to_have_url(f"{base}explore/?task=code&backend=cuda")
    page.wait_for_selector(READY)
    assert tasks(page) == {"Code"}
    expect(page.get_by_label("Backend")).to_have_value("cuda")
    assert "code" in parts

    page.go_back()
    expect(page.locator(f"{ROWS} td:nth-child(5)").first).to_have_text("All tasks")
    opened(page, base + "explore/?task=math&words=4060")
    assert tasks(page) == {"Math"}


@pytest.mark.nightly
def test_links_of_a_large_collection_are_read_when_somebody_asks_for_them(
    page: Page, base: str, parts: list[str]
) -> None:
    opened(page, base + "explore/?task=code")
    second = page.locator(ROWS).nth(1)
    assert not any(name.startswith("links") for name in parts)
    assert second.get_by_role("link", name="compare").count() == 0

    second.get_by_role("button", name="show links").click()
    compare = second.get_by_role("link", name="compare")
    expect(compare).to_have_attribute("href", re.compile(r"explore/\?a=[0-9a-f]{10}#compare$"))
    expect(second.locator(".dm-explore__ways a").first).to_be_focused()
    assert page.get_by_role("button", name="show links").count() == 0
    assert [name for name in parts if name.startswith("links")] == ["links-code"]


@pytest.mark.nightly
def test_an_address_that_names_a_setting_of_a_large_collection_shows_its_cells(
    page: Page, base: str, parts: list[str]
) -> None:
    opened(page, base + "explore/?task=code")
    page.locator(ROWS).first.get_by_role("button", name="show links").click()
    address = page.locator(ROWS).first.get_by_role("link", name="compare").get_attribute("href")
    assert address
    device = page.locator(f"{ROWS} th a").first.inner_text()

    opened(page, f"{base}explore/?task=code&setup={address.partition('=')[2][:10]}")
    expect(page.locator(f"{ROWS} th a")).to_have_text([device])
    assert parts.count("links-code") == 2


def test_two_places_of_a_large_collection_are_compared_task_by_task(
    page: Page, base: str, parts: list[str]
) -> None:
    opened(page, base + "explore/?task=code&backend=cuda&method=draft-model&words=4060")
    page.locator(ROWS).first.get_by_role("button", name="show links").click()
    page.locator(ROWS).first.get_by_role("link", name="compare").click()
    page.wait_for_selector(COMPARED)

    assert page.locator("#dm-compared tbody tr").count() == 9
    assert "settings" in parts
    assert [name for name in parts if name.startswith("rtx")] == ["rtx-4060-8-gb"]
