"""The page has a row for each backend."""

import re

from pipeline.site.pages.model import Site
from pipeline.site.pages.overviews import overviews
from tests.pipeline.tables import campaign, database


def test_the_page_counts_results_by_backend() -> None:
    made = (campaign(1.2, backend=name, seed=n) for n, name in enumerate(("cuda", "cuda", "cpu")))

    pages = {each.path: each.text for each in overviews(database(*made), Site(bundle="x"))}

    assert re.findall(r"<t[hd][^>]*>(cuda|cpu|\d)</t[hd]>", pages["acme.md"]) == [
        "cuda", "2", "cpu", "1"
    ]  # fmt: skip
