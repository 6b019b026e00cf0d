"""The stored help equals the help of typer."""

import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from harness import PROGRAM
from harness.stored_help import FILE, is_printed
from tools import help_texts


class Terminal(io.StringIO):
    """A stream with an encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def printed(*words: str, encoding: str = "utf-8") -> str | None:
    with redirect_stdout(Terminal(encoding)) as stream:
        return stream.getvalue() if is_printed(words) else None


def test_the_file_has_what_a_checkout_and_a_wheel_print() -> None:
    stored = json.loads(FILE.read_text("utf-8"))

    assert stored == help_texts.texts(), "run `make help-texts`"
    assert stored.keys() == {"python -m harness", "draftmap"}
    assert "import --help" in stored["python -m harness"]
    assert "import --help" not in stored["draftmap"]
    assert "python -m harness" not in "".join(stored["draftmap"].values())


@pytest.mark.parametrize("words", ["run --help", "run -h", "help run", "models get -h", "-h"])
def test_every_way_to_ask_for_help_is_answered_from_the_file(words: str) -> None:
    assert (printed(*words.split()) or "").startswith(f"Usage: {PROGRAM}")


@pytest.mark.parametrize("words", ["", "run", "nonsense --help", "run --help x", "help"])
def test_other_words_are_left_to_the_command_line(words: str) -> None:
    assert printed(*words.split()) is None


def test_a_narrow_terminal_and_one_without_unicode_get_help_that_is_made_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert printed("run", "--help", encoding="cp1252") is None

    monkeypatch.setenv("COLUMNS", "60")
    assert printed("run", "--help") is None


def test_every_command_names_a_guide_that_is_there() -> None:
    for words, text in json.loads(FILE.read_text("utf-8"))[PROGRAM].items():
        guide = text.rpartition("Guide: ")[2].partition(" ")[0]
        if words.endswith(" --help") and words.count(" ") == 1:
            assert (Path(__file__).parents[2] / guide).is_file(), words
