"""The README's first screen agrees with the results and with a real run."""

import re
from pathlib import Path

import pytest

from tools import first_screen, recording
from tools.badge import svg

ROOT = Path(__file__).parents[1]


@pytest.mark.results
@pytest.mark.long
def test_map_badges_and_finding_are_where_they_are_drawn() -> None:
    """A merged result changes their figures, not their names and places."""
    readme = (ROOT / "README.md").read_text("utf-8")
    drawn = first_screen.files(ROOT / "results", readme)

    stored = {name: (ROOT / name).read_text("utf-8") for name in drawn}
    assert [name for name in drawn if name not in readme and name != "README.md"] == []
    assert first_screen.inserted(stored.pop("README.md"), "") == first_screen.inserted(
        drawn.pop("README.md"), ""
    )
    for name, text in drawn.items():
        elements, made = ({*re.findall(r"<(\w+)", some)} for some in (stored[name], text))
        assert elements == made, f"{name}: make picture"


def test_a_badge_says_both_of_its_parts_as_text() -> None:
    drawn = svg("a & b", "2 lose")

    assert "<title>a &amp; b: 2 lose</title>" in drawn
    assert 'width="105"' in drawn  # 5 letters of 6.6 and 6 of them, and four margins of 8


def test_a_recording_shows_final_lines_and_no_private_folder() -> None:
    pieces = [
        (1.0, "/opt/bin/llama-server -m /var/a.gguf, 2/3\n\x1b[?25l10 %"),
        (2.0, "\r\x1b[2K50 %\nof 4"),
        (3.0, "\r\x1b[2K\x1b[1A\x1b[2K\x1b[31mdone\x1b[0m\n\x1b[?25h\n"),
    ]

    lines = [recording.shortened(line) for line in recording.screen(pieces)]

    shown = [(line.at_s, line.text.plain) for line in lines]
    assert shown == [(1.0, "llama-server -m a.gguf, 2/3"), (3.0, "done")]
    assert "3 s, played at 12x speed" in recording.svg("draftmap run", lines)
