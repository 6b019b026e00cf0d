"""*How it works* lists every flag with its bounds."""

from pathlib import Path

import pytest

from pipeline.site.pages.how_it_works import with_flags
from schemas.vocabulary.flags import FLAGS

PAGE = (Path(__file__).parents[2] / "site_src" / "methodology.md").read_text("utf-8")


@pytest.mark.parametrize("name", FLAGS)
def test_the_methodology_page_lists_every_flag(name: str) -> None:
    assert f"| `{name}` | {FLAGS[name].severity} | " in with_flags(PAGE)


def test_a_row_names_the_bounds_of_the_flag() -> None:
    assert "above 10 %." in next(
        line for line in with_flags(PAGE).splitlines() if line.startswith("| `block-spread`")
    )


def test_a_page_without_a_place_for_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="table of flags"):
        with_flags("# Methodology\n")
