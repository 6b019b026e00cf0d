"""Read model names and their quantisations as people write them: `qwen3.6:27b`, `UD-Q4_K_XL`.

`quantisations.csv` has the bits per weight. A row's pattern is its `match` if it has one, else its
name. For names that do not fix the bits, `error` is the share by which the weights may be larger.
"""

import csv
import json
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from schemas.vocabulary.documents import document

# Files of one quantisation differ in which tensors get more bits: by 6 % in a public log.
WEIGHTS_ERROR = 0.08
_TEXT = ("name", "match")
# "4-bit" and "4.5bpw", but not "mixed 2-3-8bit", which does not state the average.
_BITS = r"(?<!\.)(?<!(?<![A-Z0-9.])\d_)(\d(?:\.\d+)?)_?(?:BITS?|BPW)"
_SCALES = 0.5  # bits per weight for the scales, in formats with a whole number of bits
_BITS_ERROR = 0.15
_SIZES = {"S": "SMALL", "M": "MEDIUM", "L": "LARGE"}  # "Q4_K - Medium", as llama-bench has it
_SPELLINGS = document("spellings")


Step = tuple[re.Pattern[str], str]


class Quantisation(msgspec.Struct, frozen=True, kw_only=True):
    """Bits per weight of the layers, the token embedding and the output matrix."""

    name: str
    body: float
    embedding: float
    output: float
    error: float = WEIGHTS_ERROR


def quantisation_of(name: str) -> Quantisation | None:
    """Bits per weight of the quantisation that a text names, wherever in the text."""
    found = find_quantisation(name)
    return found[0] if found else None


@cache
def find_quantisation(text: str) -> tuple[Quantisation, str, str] | None:
    """A quantisation, its label, and the part of the text that names it, or `None`.

    The label is spelled as in file names: `UD-Q4_K_XL` for `ud q4_k_xl`. Of several, the first in
    the order of `quantisations` counts.
    """
    rows, pattern = quantisations()
    text = CACHE.sub(lambda cache: " " * len(cache[0]), text)
    named = [(found.lastindex or 0, found) for found in pattern.finditer(text)]
    at, found = min(named, default=(0, None), key=lambda each: each[0])
    if found is None or not (label := rows[at - 2][0]):
        return None
    bits, written = rows[at - 2][1], ("UD-" if found[1] else "") + label
    if bits is None:
        # A whole number of bits does not include the scales.
        body, written = float(found[at]) + (0 if "." in found[at] else _SCALES), found[at] + label
        bits = Quantisation(name=written, body=body, embedding=body, output=body, error=_BITS_ERROR)
    return bits, written, found[0]


@cache
def quantisations() -> tuple[tuple[tuple[str, Quantisation | None], ...], re.Pattern[str]]:
    """Labels as in files with their bits (`None` if the text has them), and the pattern.

    The pattern's first group is the mark of dynamic quantisations, each other one a label's, in
    this order: longer names first, then those with a `match`; bits before floats. A text that does
    not state its quantisation has no label.
    """
    rows = table("quantisations.csv", _TEXT)
    rows.sort(key=lambda row: -len(row["name"]) if "match" not in row else 0)
    found: list[tuple[str, Quantisation | None]] = [("", None)]
    patterns = ["(NOT_STATED)"]
    for row in rows:
        if row["name"] == "F32":
            found.append(("-bit", None))
            patterns.append(_BITS)
        words = row.pop("match", re.sub(r"_(?=[A-Z])|(?<=^Q)(?=\d)", "_?", row["name"]))
        words = re.sub(
            "_[?]([SML])$", lambda size: f"(?:_?{size[1]}|_{{1,3}}{_SIZES[size[1]]})", words
        )
        found.append((re.sub("^UD_", "UD-", row["name"]), Quantisation(**row)))
        patterns.append(f"({words})")
    names = "|".join(patterns)
    return tuple(found), _separated(rf"(?<![A-Z0-9])(UD_)??(?:{names})(?:_R\d)?(?![A-Z0-9]|\.\d)")


def _separated(pattern: str) -> re.Pattern[str]:
    """A pattern in which `_` stands for a blank, a hyphen, a slash or a colon, too."""
    return re.compile(pattern.replace("_", r"[-\s/:_]"), re.ASCII | re.IGNORECASE)


# A quantisation of the cache is not the weights'.
CACHE = _separated(_SPELLINGS["patterns"]["cache"])


def table(file: str, text: tuple[str, ...]) -> list[dict[str, Any]]:
    """A table's rows without empty cells; cells are JSON, except in the columns in `text`."""
    lines = resources.files("planner").joinpath(file).read_text(encoding="utf-8").splitlines()
    return [
        {key: cell if key in text else json.loads(cell) for key, cell in row.items() if cell}
        for row in csv.DictReader(lines)
    ]


def compiled(steps: Iterable[tuple[str, str]]) -> tuple[Step, ...]:
    """Replacements in a text; `$1` is the first group, as in scripts."""
    return tuple(
        (re.compile(pattern, re.ASCII), re.sub(r"\$(\d)", r"\\\1", to)) for pattern, to in steps
    )


def replaced(steps: Iterable[Step], text: str) -> str:
    """The text after replacements, in order."""
    for pattern, to in steps:
        text = pattern.sub(to, text)
    return text
