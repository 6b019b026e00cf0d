"""Numbers in documents about the code equal those in the code."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Optional features have their own list below their tests.
LIMITS = {
    document: limits
    for path in sorted((ROOT / "tests").rglob("limits.toml"))
    for document, limits in tomllib.loads(path.read_text("utf-8")).items()
}
ONE_TO_TEN = ["a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS = {word: number for number, word in enumerate(ONE_TO_TEN, 1)} | {"fifteen": 15}


def test_there_are_limits() -> None:
    assert sum(map(len, LIMITS.values())) > 30


@pytest.mark.parametrize(
    ("document", "sentence", "limit"),
    [(name, *entry) for name, limits in LIMITS.items() for entry in limits.items()],
)
def test_a_number_in_a_document_is_the_limit_in_the_code(
    document: str, sentence: str, limit: str
) -> None:
    text = " ".join((ROOT / document).read_text("utf-8").split())
    before, after = map(re.escape, sentence.split("{}"))

    stated = set(re.findall(rf"{before}([\d.,]+|\b[A-Za-z]+){after}", text))

    assert len(stated) == 1, f"{document}: no such sentence: {sentence}"
    number = stated.pop()
    known = NUMBERS.get(number.lower()) or float(number.replace(",", ""))
    module, _, name = limit.rpartition(".")
    assert known * unit_of(sentence, name) == pytest.approx(getattr(import_module(module), name))


def unit_of(sentence: str, name: str) -> float:
    """The unit of a sentence's number in the code, which uses fractions and seconds."""
    unit = sentence.partition("{} ")[2]
    if unit.startswith("minute"):
        return 60 if name.endswith("_S") else 1
    return 0.01 if unit.startswith("%") else 1024 if unit.startswith("KiB") else 1
