"""Find the parts of a text: sizes and counts, the longest known spellings, the model's name.

The table of `planner/names_table.py` is all that is known. `site_src/assets/javascripts/names.js`
has the same steps.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from planner.model_names import compiled, find_quantisation, replaced
from planner.names_table import name_parts, names_table, spellings

_TABLE = names_table()
FOUND = {
    name: re.compile(re.sub(r"\(\?<(?=\w)", "(?P<", text), re.ASCII)
    for name, text in _TABLE.patterns.items()
    if name not in ("cache", "quantisation")  # those of `planner/model_names.py`
}
_CLASSES = [(name, re.compile(text, re.ASCII)) for name, text in _TABLE.classes]
STEPS = {name: compiled(steps) for name, steps in _TABLE.steps.items()}
_NUMBERS = ("size", "main", "context", "count", "times")
_SPELLED = ("word", "chip", "times")
_LONGEST_KEY = 8  # tokens


class ListedCard(NamedTuple):
    """A card of the table, its memory in GiB, and whether it shares main memory.

    `own` is the usual size, 0 if there is none. `sizes` are the size in its name (0 if there is
    none) and those after a change. A laptop can have a `portable` one.
    """

    key: str
    own: int
    portable: bool
    sizes: tuple[int, ...]
    shares: bool


class Token(NamedTuple):
    """A part of a text. Its kind is that of a key in the table, or one of those of the pattern.

    Those are `processor`, `size` (of a card) and `main` (memory) in GiB, `context` in tokens,
    `count`, `times`, `chip` (a number that may be a card's), `word`, or a sign itself. `model` is a
    model's name. A `card` has the cards that it may mean and their mark, other keys the letters of
    makers or an identifier.
    """

    kind: str
    text: str
    value: float = 0
    cards: tuple[ListedCard, ...] = ()
    meant: str = ""


class Scan(NamedTuple):
    """The tokens of a text, the slug of its model, and words after its name that are not its.

    `named` is whether the model has a family or a size; otherwise the slug is made of all words.
    """

    tokens: tuple[Token, ...]
    slug: str
    spare: tuple[str, ...]
    named: bool


def _listed() -> Iterator[tuple[ListedCard, Token, set[str]]]:
    """The cards of the table, each with a token and its squeezed spellings."""
    for number, line in enumerate(_TABLE.cards.split("\n")):
        names, mark, own, portable, sizes = (*line.split("|"), "", "", "")[:5]
        card = ListedCard(
            key=names.split(",")[0],
            own=int(own or 0),
            portable=portable == "p",
            sizes=tuple(map(int, (sizes or "0").split(" "))),
            shares=mark.endswith("+"),
        )
        token = Token("card", "", meant=f"{number}:{mark}")
        yield card, token, spellings(names.split(","), _TABLE.forms)


def _keys() -> dict[str, Token]:
    """The token of each squeezed spelling; a card's precedes other words."""
    found: dict[str, Token] = {}
    for card, token, names in _listed():
        for word in names:
            known = found.get(word, token)
            found[word] = known._replace(cards=(*known.cards, card))
    for kind, meaning, words in _TABLE.keys:
        for word in words.split(" "):
            value = float(meaning) if kind == "count" else 0
            found.setdefault(word, Token(kind, "", value, (), meaning))
    return found


CARDS = tuple(card for card, *_ in _listed())
_KEYS = _keys()
_MODELS = {
    name_parts(name): line.split(" ")[0]
    for line in _TABLE.models.split("\n")
    for name in line.split(" ")
}


@cache
def scan(text: str) -> Scan:
    """The parts of a text; the first name that has a family or a size is the model's."""
    tokens = [*_named([*_tokens(plain_text(text))])]
    before, marks = "", ""
    for token in tokens:
        marks += "-" if f"{before}-{token.text}" in text.lower() else " "
        marks += next(name for name, row in _CLASSES if row.search(f"{token.kind} {token.text}"))
        before = token.text
    found = FOUND["model"].search(marks)
    start, end = (found.start() // 2, found.end() // 2) if found else (0, len(tokens))
    own = start + len(FOUND["tail"].sub("", found[0])) // 2 if found else end
    words = [
        token.text if token.text[0].isalnum() and mark not in "xnp" else ""
        for token, mark in zip(tokens, marks[1::2], strict=True)
    ]
    slug = _slug(words[start:own])
    sized = re.search(r"\d[bm]\b", slug) and slug not in _MODELS.values()
    if sized and end - start == len(tokens):  # the whole text is an unlisted model's name
        own = end
        slug = _slug(words[start:end])
    left = [*tokens[:start], Token("model", ""), *tokens[end:]] if found else tokens
    return Scan(
        tokens=tuple(left),
        slug=slug,
        spare=tuple(filter(None, words[own:end])),
        named=found is not None,
    )


def _slug(words: Sequence[str]) -> str:
    """The slug of a known model; else the one of these words."""
    slug = replaced(STEPS["slug"], "-".join(filter(None, words)))
    return _MODELS.get(name_parts(slug), slug)


def plain_text(text: str) -> str:
    """The text in lower case, without quantisations, accents, trademark signs and hyphens."""
    while found := find_quantisation(text):
        text = text.replace(found[2], " ")
    return replaced(STEPS["plain"], unicodedata.normalize("NFKD", text).lower()).strip()


def _tokens(plain: str) -> Iterator[Token]:
    """The tokens of the pattern: its groups name the kinds, and a sign is its own kind.

    A number has a unit, and is taken `by` the number of memory modules.
    """
    for found in FOUND["token"].finditer(plain):
        stated = {name.rstrip("12345"): text for name, text in found.groupdict().items() if text}
        factor = _TABLE.units.get(stated.pop("unit", "")[:1], 1) * int(stated.pop("by", 1))
        name, text = next(iter(stated.items()), ("", ""))
        value = int(float(text) * factor * 10 + 0.5) / 10 if name in _NUMBERS else 0
        kind, words = text if name == "sign" else name, found[0].strip(" .!")
        if kind and words:
            yield Token(kind, words, value)


def _named(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens with the longest known spelling at each word; a processor has its own graphics."""
    while tokens:
        words = [x.text if x.kind in _SPELLED else "|" for x in tokens[:_LONGEST_KEY]]
        while len(words) > 1 and "".join(words) not in _KEYS:
            words.pop()
        known = _KEYS.get("".join(words))
        yield known._replace(text=" ".join(words)) if known else _with_graphics(tokens[0])
        tokens = tokens[len(words) :]


def _with_graphics(token: Token) -> Token:
    if token.kind != "processor":
        return token
    named = _named([Token("word", word) for word in token.text.split()])
    chip = next((each for each in named if each.cards and each.cards[0].shares), token)
    return token._replace(cards=chip.cards, meant=chip.meant)
