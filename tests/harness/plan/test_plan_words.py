"""`plan` marks what it assumes as assumed."""

import json
import re
from typing import Any

from typer.testing import CliRunner

from harness.cli import app

CARD = ("--gpu", "RTX 4060 8 GB", "--ram", "32", "--cpu", "8 cores DDR5-4800")


def words(*arguments: str) -> str:
    """The printed text, as one line."""
    return " ".join(printed(*arguments).split())


def printed(*arguments: str) -> str:
    return CliRunner().invoke(app, ["plan", *arguments]).stdout


def document(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed(*arguments, "--json"))
    return found


def test_a_measured_acceptance_takes_the_place_of_the_estimate() -> None:
    asked = ("--target", "qwen3-8b:Q4_K_M", "--draft", "ngram", *CARD)

    fitted = words(*asked)
    measured = words(*asked, "--tokens-per-round", "3")
    share = words(*asked, "--acceptance", "0.6")

    text = "drafting from text that repeats the prompt (ngram-simple)"
    assert f"No reason to use it: {text} may give" in fitted
    assert "Accuracy: too few people tried such a method to tell." in fitted
    # Each of the two tokens that the text gave costs a tenth of a step: 3 / 1.2.
    assert f"Probably: {text} gives" in measured
    assert "2.50×" in measured  # noqa: RUF001 - as printed
    assert "too few people" not in measured
    assert "The acceptance was not used, because most rounds have no draft" in share


def test_the_answer_for_an_unknown_card_says_which_bandwidth_it_assumes() -> None:
    card = ("--gpu", "banana 8 GB", "--ram", "32")

    unknown = words("--target", "qwen3-8b:Q4_K_M", "--draft", "none", *card)

    assert re.search(r"Without a draft, expect about [\d.]+ tokens/s\. Fits: ", unknown)
    assert "The bandwidth of banana 8 GB is not known, so speeds assume 400 GB/s" in unknown
    assert "device memory had a median error of 78 MiB over public logs" in unknown
