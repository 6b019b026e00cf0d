"""A machine of Acme is noted."""

from dataclasses import replace

from estimates.summary import summarize
from tests.samples import sample


def test_the_flag_says_what_the_notes_say() -> None:
    found = summarize(replace(sample(), notes="An Acme machine")).flags

    assert [each.message for each in found if each.name == "acme"] == [
        "The notes say An Acme machine."
    ]
