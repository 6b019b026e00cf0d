"""Bounds, ids, labels and words of the vocabulary are defined nowhere else."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.vocabulary import (
    ALL_TASKS,
    HELPS_ABOVE,
    HURTS_BELOW,
    METHODS,
    SIZES,
    TASKS,
    VERDICTS,
)
from tools.retired_words import TABLE, retired

ROOT = Path(__file__).parents[1]
FOLDERS = ("planner", "estimates", "harness", "pipeline", "schemas", "site_src/assets")
SUFFIXES = {".jinja", ".js", ".py", ".sql", ".toml"}
# The vocabulary itself, and the types of the format, whose ids a test compares with it.
HOMES = ("schemas/vocabulary/", "schemas/method.py", "schemas/submission.py")
# Ordinary words that mean other things too.
COMMON = {"none", "other", "Other", "failed", "helps", "hurts", "uncertain"}
# Words that may be named in a file, with the reason.
NAMED = {
    "estimates/model.py": {"empty-draft"},  # the same
    "estimates/arguments.py": {"lossy"},  # an effect of an argument
    "schemas/public_arguments.py": {"lossy"},  # the same
    "harness/report/details.py": {"empty-draft", "lossy"},  # the same; a word in a column
    # Methods for targets with a head, and for models without a smaller one.
    # Methods that draft alike, so that figures of one inform the others.
    "planner/kinds.py": {
        *("dflash", "dflash2", "draft-model", "dspark", "eagle3", "mtp", "pard"),
    },
    "pipeline/site/pages/what_moves_it.py": {"dflash", "dspark", "eagle3"},  # of those classes
    "pipeline/site/search.toml": {"MTP", "DFlash", "PARD"},  # what people type
    "planner/presets.toml": {"dflash", "dflash2", "eagle3", "mtp", "ngram-simple"},
    "pipeline/data/sql/66_draft_grid.sql": {"draft-model"},  # which draft, of those that are models
    "pipeline/site/pages/proofs.toml": {"oracle"},  # a list in the data of a proof
}


def owned() -> set[str]:
    """Texts that may not be quoted literals anywhere else."""
    words = {*METHODS, *(entry.label for entry in METHODS.values())}
    words |= {ALL_TASKS, *(entry.label for entry in TASKS.values())}
    words |= {size.label for size in SIZES.values()}
    for verdict in VERDICTS.values():
        words |= {verdict.word, verdict.label, verdict.share}
    return words - COMMON


def numbers() -> set[str]:
    """Bounds as they could be written; a billion alone is a unit."""
    sizes = [size.below for size in SIZES.values() if size.below and size.below > 10**9]
    written = {f"{below:_}" for below in sizes} | {f"{below // 10**9}e9" for below in sizes}
    return written | {str(HELPS_ABOVE), str(HURTS_BELOW)}


def found() -> dict[str, set[str]]:
    """The owned literals by the file that names them."""
    quoted = "|".join(map(re.escape, sorted(owned(), key=len, reverse=True)))
    plain = "|".join(map(re.escape, numbers()))
    pattern = re.compile(rf"""(["'])({quoted})(?:\1|:)|(?<![\w.])({plain})(?![\w.])""")
    named = {
        name: {match[2] or match[3] for match in pattern.finditer(text)} for name, text in sources()
    }
    return {name: literals for name, literals in named.items() if literals}


def sources() -> Iterator[tuple[str, str]]:
    """Every file but the homes of the words, with an en dash as a character."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in SUFFIXES and not name.startswith(HOMES):
                text = path.read_text(encoding="utf-8")
                yield name, text.replace("\\N{EN DASH}", "\N{EN DASH}")


def test_words_of_the_vocabulary_are_defined_nowhere_else() -> None:
    assert found() == NAMED


def test_a_retired_word_is_found_with_its_line_and_replacement() -> None:
    text = "It starts anew,\nin a process of its own. Engines of their own kind stay forever."

    assert [(line, words) for line, words, _ in retired(text)] == [
        (1, "anew"),
        (2, "a process of its own"),
    ]
    assert all(instead for _, _, instead in retired(text))


# A sentence for each entry of the list, in its order.
RETIRED = """\
The run starts anew.
It waits for ever.
Each has a server of its own.
They cannot be told apart.
This mends the file.
It waits in vain.
'x' is none.
This draft speaks for that target.
It gathers results.
The next engine has its turn.
An account on the code host.
Made-up data.
The drafts are spoiled at random.
The file is not valid any more.
It cannot be told which it was.
A trial of 11 tokens, unless told otherwise.
No block is begun that would exceed it.
The lock stands in the folder.
The packages lie inside the wheel.
'Q9' is no quantisation that is known.
What tasks differ by is no doubt about their mean.
This file fits in no way.
The least amount above the default.
It ends so many minutes after the start.
With sampling, another text is no error.
The times add up to a year; one of them is a slip.
# Who is killed cleans nothing up.
It prints the table, and writes it where that is asked for.
It takes 11 rounds, give or take two.
-- One row is what a round costs.
A form is refused for want of requests.
The files of before stay valid.
Names are the same in any case of their letters.
The answers are too short to speak of.
All layers are asked onto the GPU.
Two people stand behind the figure.
The time is borne out by requests for one token.
This runner cannot carry out the option.
\"\"\"What the file holds.
"""


def test_each_entry_of_the_list_finds_its_sentence() -> None:
    entries = tomllib.loads(TABLE.read_text("utf-8"))["retired"]
    sentences = RETIRED.splitlines()

    hits = [{instead for _, _, instead in retired(each)} for each in sentences]

    assert len(entries) == len(sentences)
    assert [each["instead"] in found for each, found in zip(entries, hits, strict=True)] == [
        True
    ] * len(entries)


def test_no_other_file_lists_the_tasks() -> None:
    first, second, *_ = TASKS
    listed = re.compile(rf"\b{first}\b[\"']?,\s*[\"']?{second}\b")

    assert [name for name, text in sources() if listed.search(text)] == []


@pytest.mark.parametrize("page", ["docs/measuring.md", "site_src/methodology.md"])
def test_the_prose_on_verdicts_gives_their_bounds(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    assert f" above {HELPS_ABOVE}" in text
    assert f" below {HURTS_BELOW}" in text
