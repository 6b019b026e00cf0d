"""Numbers in methodology, pages and help change only on purpose."""

import json
from collections import Counter

from tools.printed_numbers import STORED, numbers, printed


def test_numbers_are_read_with_their_unit_and_skipped_in_code() -> None:
    text = (
        "At ±1.15\N{MULTIPLICATION SIGN} of {{ 7 }} runs, 80 % of [2](page-3.html) in "
        "<p class='x9'>1,282 rows</p>, 2, F16 and --depth 8."
    )

    assert numbers(text) == ["1,282", "1.15\N{MULTIPLICATION SIGN}", "2", "2", "8", "80 %"]


def test_methodology_pages_and_help_state_the_numbers_that_they_stated() -> None:
    stored: dict[str, list[str]] = json.loads(STORED.read_text("utf-8"))
    now = printed()

    changed = {
        name: {"gone": dict(old - new), "new": dict(new - old)}
        for name in sorted(stored.keys() | now.keys())
        if (old := Counter(stored.get(name, []))) != (new := Counter(now.get(name, [])))
    }
    assert len(stored["site_src/methodology.md"]) > 100
    assert not changed, "where that is meant: python -m tools.printed_numbers"
