"""Fill a prompt up to a context depth: text from the project's documentation precedes the question.

The filler is `suites/filler.txt.bz2`: 38,000 tokens with SmolLM2's tokenizer, without repetition.
Each prompt starts at a different paragraph, so that no two prompts share a prefix that an engine
could cache.
"""

import bz2
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TypeVar

from harness.campaign.model import PromptSuite
from harness.errors import BadInputError
from schemas.vocabulary.say import count

Tokens = TypeVar("Tokens", bound=Sequence[int])

_WORD = re.compile(r"\S+\s*")
_PARAGRAPH = re.compile(r"\n{2,}")
_INTRODUCTION = "Here are some notes. The task follows after the line.\n\n"
_LINE = "\n\n----------\n\n"
# Filler is added in whole words, so a prompt may be shorter than its depth by this many tokens.
_NEAR_ENOUGH = 8
_MOST_TRIES = 24
# Tokens for the chat template and our introduction, and the characters per token of JSON, which has
# the shortest tokens.
_AROUND_TOKENS, _FEWEST_CHARACTERS = 48, 2.5


def fitting(suite: PromptSuite, depth: int, say: Callable[[str], None]) -> PromptSuite:
    """Return the suite without prompts that, under some tokenizer, might exceed the depth.

    Raises `BadInputError` if no prompt is left.
    """
    room = (depth - _AROUND_TOKENS) * _FEWEST_CHARACTERS
    left = tuple(prompt for prompt in suite.prompts if len(prompt.text) <= room)
    if not left:
        raise BadInputError(
            f"no prompt is shorter than --context-depth {depth}; give a greater depth"
        )
    gone = count(len(suite.prompts) - len(left), "prompt")
    if len(left) < len(suite.prompts):
        say(f"Left out: {gone}, too long for a context of {depth} tokens.")
    return replace(suite, prompts=left)


def filled(text: str, *, depth: int, size_of: Callable[[str], int]) -> str:
    """Return the prompt with filler before it: `depth` tokens in total, or up to eight fewer.

    `size_of` counts the tokens of a user's text in the chat template. Raises `BadInputError` for a
    prompt that exceeds the depth without filler, and for a depth that the filler cannot reach.
    """
    paragraphs = _paragraphs()
    start = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % len(paragraphs)
    words = [word for each in (*paragraphs[start:], *paragraphs[:start]) for word in each]

    def made(count: int) -> str:
        return f"{_INTRODUCTION}{''.join(words[:count]).rstrip()}{_LINE}{text}"

    least, smallest = 0, size_of(made(0))
    if smallest > depth:
        raise BadInputError(
            f"a prompt takes {smallest} tokens without padding, more than --context-depth "
            f"{depth}; give a greater depth, or leave the prompt out with --prompts"
        )
    most, largest = len(words), size_of(made(len(words)))
    if largest < depth:
        raise BadInputError(
            f"--context-depth {depth}: the filler text has only {largest} tokens; give a "
            "smaller depth"
        )
    for _ in range(_MOST_TRIES):
        if depth - smallest <= _NEAR_ENOUGH or most - least <= 1:
            break
        # Interpolate: the same share of words as of tokens, slightly less; never an end of the
        # range.
        share = (depth - smallest - _NEAR_ENOUGH / 2) / (largest - smallest)
        middle = min(max(least + int(share * (most - least)), least + 1), most - 1)
        size = size_of(made(middle))
        if size <= depth:
            least, smallest = middle, size
        else:
            most, largest = middle, size
    return made(least)


def rendered(text: str, render: Callable[[str], Tokens], *, depth: int | None) -> Tokens:
    """Return the token ids of a rendered prompt, preceded by filler if a context depth is given."""
    if depth is None:
        return render(text)
    return render(filled(text, depth=depth, size_of=lambda each: len(render(each))))


@cache
def _paragraphs() -> tuple[tuple[str, ...], ...]:
    """Split the filler into paragraphs, and these into words, each with the space after it."""
    file = resources.files("harness.campaign").joinpath("suites", "filler.txt.bz2")
    found = _PARAGRAPH.split(bz2.decompress(file.read_bytes()).decode().strip())
    return tuple(tuple(_WORD.findall(paragraph + "\n\n")) for paragraph in found)
