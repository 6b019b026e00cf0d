"""A number that a document states of the code is the one that the code has."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The numbers of documents that limits of the code have: a sentence, and the limit at `{}`.
LIMITS = {
    "CONTRIBUTING.md": {"folder holds {} results": "schemas.codec.MOST_FLAT"},
    "docs/measuring.md": {
        "differ by more than {} %": "harness.campaign.builder.REPEAT_BEYOND",
        "fewer than {} tokens": "estimates.non_default._DEFAULT_OUTPUT_TOKENS",
        "interval is above {}, and": "schemas.vocabulary.HELPS_ABOVE",
        "*hurts*: below {}, likewise": "schemas.vocabulary.HURTS_BELOW",
    },
    "docs/engine-developers.md": {
        "at most {} minutes (": "harness.compare.command._MINUTES",
        "`--quick` takes {})": "harness.compare.command._QUICK_MINUTES",
        "interval is within {} %": "harness.compare.comparison.PRECISE",
        "a change of {} % is excluded": "harness.compare.comparison.WIDE",
        "fewer than {} blocks never": "harness.compare.comparison.FEWEST_BLOCKS",
        "below {} % of its reference": "harness.compare.reference.FAIL_BELOW",
    },
    "site_src/methodology.md": {
        "two readings that are {} seconds apart": "harness.run.warm_until_steady.APART_S",
        "After {} minute the trials begin": "harness.run.warm_until_steady.LONGEST_S",
        "each task and {} blocks": "harness.campaign.builder.DEFAULT_BLOCKS",
        "there are {} to 6, until": "harness.campaign.builder.LEAST_BLOCKS",
        "there are 3 to {}, until": "harness.campaign.builder.MOST_BLOCKS",
        "with room for {} tokens": "harness.models.thinking.OUTPUT_TOKENS",
        "known and below {} %": "estimates.system_load.SATURATED",
        "Beyond *s* = {} the flag": "estimates.system_load.TOO_BUSY",
        "*Stated**, with {} tokens": "estimates.requests.STATED_ANSWER_TOKENS",
    },
    "docs/design/0005-engine-in-a-child-process.md": {
        "silent for {} minutes": "harness.runners.isolated.ANSWER_LIMIT_S",
        "{} in a row give up": "harness.run.execute._FAILURES_TO_GIVE_UP",
    },
    "docs/design/0007-length-of-a-campaign.md": {
        "runs {} to 6 blocks": "harness.campaign.builder.LEAST_BLOCKS",
        "runs 3 to {} blocks": "harness.campaign.builder.MOST_BLOCKS",
        "level is {} % where": "estimates.repeatability.CONFIDENCE_WHEN_STOPPED_EARLY",
    },
    "docs/design/0011-verdict-as-data-comment-with-rights.md": {
        "at most {} KiB": "schemas.strict.MAX_BYTES"
    },
    "docs/design/0014-explore-one-file-of-columns.md": {
        "Beyond {} cells": "pipeline.site.pages.cells.MOST_CELLS"
    },
    "docs/design/0019-openai-servers.md": {
        "more than {} % and 50 ms": "harness.openai.clock._APART",
        "more than 10 % and {} ms": "harness.openai.clock._APART_MS",
        "more than {} % tokens": "harness.openai.clock._MISCOUNTED",
    },
    "docs/design/0022-planner.md": {
        "errors: {} % of weights": "estimates.plan.shapes.WEIGHTS_ERROR",
        "within a factor of {} in": "estimates.plan.speed.NEAREST_ERROR",
    },
    "docs/design/0028-tuner-and-forced-acceptance.md": {
        "At most {} forecasts": "harness.tune.decisions.RACED",
        "forecasts within {} % of the best": "harness.tune.forecast.PLAUSIBLE",
    },
    "docs/design/0029-room-for-ten-thousand-files.md": {
        "From {} votes on": "pipeline.data.aggregate.MANY_VOTES",
        "Beyond {} submissions": "pipeline.site.pages.summary_pages.MOST_PAGES",
        "From {} results on": "schemas.codec.MOST_FLAT",
        "home page has {} rows": "pipeline.site.pages.strips.MOST_ROWS",
        "more than {} dots in a row": "pipeline.site.pages.strips.MOST_DOTS",
    },
    "docs/design/0037-more-prompts-fewer-repeats.md": {
        "differ by more than {} %": "harness.campaign.builder.REPEAT_BEYOND",
        "*{} blocks*": "harness.campaign.builder.DEFAULT_BLOCKS",
        "fewer than {} tokens": "estimates.non_default._DEFAULT_OUTPUT_TOKENS",
    },
    "docs/design/0038-ranked-strips.md": {
        "has at most {} rows": "pipeline.site.pages.strips.MOST_ROWS",
        "until {} rows are in sight": "pipeline.site.pages.strips.OPEN_IN_ALL",
    },
    "docs/design/0039-twelve-kinds-of-page.md": {
        "words ({} at most": "tests.pipeline.test_words.MOST_WORDS"
    },
}
ONE_TO_TEN = ["a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS = {word: number for number, word in enumerate(ONE_TO_TEN, 1)} | {"fifteen": 15}


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
    """What 1 in a sentence is in the code: shares are not percent there, and times are seconds."""
    unit = sentence.partition("{} ")[2]
    if unit.startswith("minute"):
        return 60 if name.endswith("_S") else 1
    return 0.01 if unit.startswith("%") else 1024 if unit.startswith("KiB") else 1
