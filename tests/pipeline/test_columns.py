"""Every column of the exported tables is described, and the declared keys are unique."""

from collections.abc import Mapping
from functools import cache

import pytest

from pipeline.data.column_meanings import description, title
from pipeline.data.export import EXPORTS
from schemas.vocabulary.documents import document
from tests.pipeline.tables import columns_of, real_database

WORDS = document("columns", "pipeline.data")


@cache
def tables() -> Mapping[str, Mapping[str, str]]:
    """The columns of every table and view, by its name."""
    return columns_of(real_database())


@pytest.mark.parametrize("file", EXPORTS)
def test_every_column_has_a_title_and_a_description(file: str) -> None:
    table = EXPORTS[file]

    said = {name: (title(name), description(name, table)) for name in tables()[table]}

    assert said
    assert not [name for name, words in said.items() if not all(words)]


def test_the_table_of_words_describes_columns_that_are_there_and_no_others() -> None:
    columns = {name for table in EXPORTS.values() for name in tables()[table]}

    assert WORDS["words"].keys() <= columns


@pytest.mark.parametrize(
    ("column", "table", "words"),
    [
        ("os_family", "submission", "Family of the operating system's kernel."),
        ("draft_ms", "trial", "Part of decode_ms spent drafting."),
        ("cpu", "published_view", "Name of the CPU."),
        ("commit", "source", "Commit that was read."),
        ("engine_commit", "submission", "Source commit of the engine."),
        ("failed_trials", "evidence", "Number of trials that did not finish."),
    ],
)
def test_a_field_of_the_format_is_described_as_its_schema_does(
    column: str, table: str, words: str
) -> None:
    assert description(column, table) == words
