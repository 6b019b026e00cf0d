"""Do Explore and Compare read a large collection in parts, one task or two devices at a time?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from tests.browser.pages import lent
from tests.browser.test_explore import COMPARED, READY, ROWS, WIDE, opened, tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    with lent(tab, WIDE) as page:
        yield page


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


@pytest.fixture
def parts(page: Page, base: str) -> list[str]:
    """The site as if its cells were too many for one file; returns the files that were read."""
    site = page.request
    found = re.search(r'data-cells="\.\./([^"]+)"', site.get(base + "explore/").text())
    assert found
    cells = site.get(base + found[1]).json()
    names = {name: cells["facets"][name]["keys"] for name in ("task", "device")}
    singles = [name for name in names["task"] if name != "all"]
    files = {"all": only(cells, "task", "all")}
    files |= {name: only(cells, "task", name) for name in singles}
    files |= {name: only(only(cells, "task", *singles), "device", name) for name in names["device"]}
    kinds = {"tasks": singles, "devices": names["device"]}
    listed = {kind: {name: f"parts/{name}" for name in each} for kind, each in kinds.items()}
    asked: list[str] = []

    def answer(route: Route) -> None:
        name = unquote(route.request.url.rpartition("/")[2])
        asked.append(name)
        route.fulfill(json=listed if name == "listed" else files[name])

    def opens(route: Route) -> None:
        text = re.sub(
            r'data-cells="[^"]*"',
            'data-cells="../parts/all" data-parts="../parts/listed"',
            route.fetch().text(),
        )
        options = "".join(f'<option value="{name}">{name}</option>' for name in singles)
        text = text.replace(
            '<option value="">Each task', options.join(["<option value=''>All", ""])
        )
        route.fulfill(body=text, content_type="text/html")

    page.route("**/parts/*", answer)
    page.route(re.compile(r"/(explore|compare)/(\?.*)?$"), opens)
    return asked


def test_of_a_large_collection_one_task_is_read_at_a_time(
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


def test_two_places_of_a_large_collection_are_compared_task_by_task(
    page: Page, base: str, parts: list[str]
) -> None:
    opened(page, base + "explore/?task=code&backend=cuda&method=draft-model&words=4060")
    page.locator(ROWS).first.get_by_role("link", name="compare").click()
    page.wait_for_selector(COMPARED)

    assert page.locator("#dm-compared tbody tr").count() == 9
    assert [name for name in parts if name.startswith("rtx")] == ["rtx-4060-8-gb"]
