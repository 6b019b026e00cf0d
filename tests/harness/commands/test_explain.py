"""Every word that a report prints is explained by one command."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from harness import console
from harness.cli import app
from harness.commands.explain import explained
from harness.errors import EXIT_CODES
from harness.features import COMMANDS
from schemas.rules import RULES
from schemas.submission import Reason
from schemas.vocabulary import DOUBTS, METHODS, VERDICTS
from schemas.vocabulary.flags import FLAGS

VOCABULARY = Path(__file__).parents[3] / "schemas" / "vocabulary"


def test_an_installed_program_is_named_as_it_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "INSTALLED", True)
    monkeypatch.setattr(console, "PROGRAM", "draftmap")

    texts = "\n".join(explained().values())

    assert "`draftmap verify RESULT.json`" in texts
    assert "python -m harness" not in texts


def test_no_table_names_the_program_in_another_way() -> None:
    """Only `python -m harness` becomes `draftmap` where the program is installed."""
    tables = "\n".join(path.read_text("utf-8") for path in VOCABULARY.glob("*.toml"))

    found = re.findall(rf"(\S+) harness (?:{'|'.join(COMMANDS)})\b", tables)
    assert {*found} == {"-m"}


def test_every_word_of_the_tables_has_a_text() -> None:
    words = {*FLAGS, *VERDICTS, *DOUBTS, *METHODS, *RULES, *get_args(Reason)}

    found = explained()

    assert words | {str(code) for code in EXIT_CODES} <= found.keys()
    assert not [word for word, text in found.items() if len(text) < 16 or "None" in text]
    assert not [word for word, text in found.items() if text != " ".join(text.split())]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("busy-machine", "flag. "),
        ("helps-confirmed", "verdict, ▲ helps (confirmed)."),
        ("[out-of-memory]", "reason for a failure. The device or the machine"),
        ("schema-type", "docs/format.md lists all"),
        ("trial-arm-known", "Each `arm` in `trials` is the id of a listed arm."),
        ("130", "exit code: interrupted"),
    ],
)
def test_a_word_is_explained_as_it_is_printed(word: str, says: str) -> None:
    done = CliRunner().invoke(app, ["explain", word])

    assert done.exit_code == 0, done.output
    assert says in done.stdout


def test_an_unknown_word_gets_the_nearest_one_and_json_has_all() -> None:
    unknown = CliRunner().invoke(app, ["explain", "busy-machin"])
    listed = CliRunner().invoke(app, ["explain", "--json"])

    assert unknown.exit_code == 2
    assert "Did you mean 'busy-machine'?" in unknown.output
    assert "helps" in json.loads(listed.stdout)["words"]
