"""Find the parts of a text: sizes and counts, the longest known spellings, the model's name.

The table of `answers/names_table.py` is all that is known. `site_src/assets/javascripts/names.js`
has the same steps.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from answers.model_names import compiled, find_quantisation, replaced
from answers.names_table import name_parts, names_table

TABLE = names_table()
FOUND = {
    name: re.compile(re.sub(r"\(\?<(?=\w)", "(?P<", text), re.ASCII)
    for name, text in TABLE.patterns.items()
    if name not in ("cache", "quantisation")  # those of `answers/model_names.py`
}
_CLASSES = [(name, re.compile(text, re.ASCII)) for name, text in TABLE.classes]
_STEPS = {name: compiled(steps) for name, steps in TABLE.steps.items()}
_LONGEST = 200
_NUMBERS = ("size", "main", "context", "count", "times")
_LONGEST_KEY = 8  # tokens


class Token(NamedTuple):
    """A part of a text. Its kind is that of a key in the table, or one of those of the pattern.

    Those are `processor`, `size` (of a card) and `main` (memory) in GiB,
    `context` in tokens, `count`, `times`, `word`, or a sign itself. `model` is a model's name.
    """

    kind: str
    text: str
    value: float = 0
    meant: tuple[str, ...] = ()


class Scan(NamedTuple):
    """The tokens of a text, the slug of its model, and words after its name that are not its.

    `named` is whether the model has a family or a size; otherwise the slug is made of all words.
    """

    tokens: tuple[Token, ...]
    slug: str
    spare: tuple[str, ...]
    named: bool


@cache
def scan(text: str) -> Scan:
    """The parts of a text; the first name that has a family or a size is the model's."""
    tokens = list(named_tokens(list(_tokens(plain_text(text)))))
    before, joints = "", ""
    for token in tokens:
        joints += "-" if f"{before}-{token.text}" in text.lower() else " "
        joints += _class(token)
        before = token.text
    found = FOUND["model"].search(joints)
    start, end = (found.start() // 2, found.end() // 2) if found else (0, len(tokens))
    own = start + len(FOUND["tail"].sub("", found[0])) // 2 if found else end
    words = [(at, x.text) for at, x in enumerate(tokens) if _class(x) not in "xnp"]
    words = [(at, word) for at, word in words if word[0].isalnum()]
    slug = _slug("-".join(word for at, word in words if start <= at < own))
    sized = re.search(r"\d[bm]\b", slug) and slug not in TABLE.models.values()
    if sized and end - start == len(tokens):  # the whole text is an unlisted model's name
        own = end
        slug = _slug("-".join(word for _, word in words))
    if found:
        tokens[start:end] = [Token("model", "")]
    return Scan(
        tokens=tuple(tokens),
        slug=slug,
        spare=tuple(word for at, word in words if own <= at < end),
        named=found is not None,
    )


def _slug(words: str) -> str:
    """The slug of a known model, also without its version; else the one of these words."""
    slug = replaced(_STEPS["slug"], words.replace(" ", "-"))
    shorter = TABLE.models.get(name_parts(replaced(_STEPS["version"], slug)), slug)
    return TABLE.models.get(name_parts(slug), shorter)


def plain_text(text: str) -> str:
    """The text in lower case, without quantisations, accents, trademark signs and hyphens."""
    while found := find_quantisation(text):
        text = text.replace(found[2], " ")
    text = re.sub(r"[®™]|\((?:R|TM|C)\)", " ", text[:_LONGEST], flags=re.IGNORECASE)
    return replaced(_STEPS["plain"], unicodedata.normalize("NFKD", text).lower()).strip()


def _tokens(plain: str) -> Iterator[Token]:
    """The tokens of the pattern: its groups name the kinds, and a sign is its own kind.

    A number has a unit, and is taken `by` the number of memory modules.
    """
    for found in FOUND["token"].finditer(plain):
        stated = {name.rstrip("12345"): text for name, text in found.groupdict().items() if text}
        factor = TABLE.units.get(stated.pop("unit", "")[:1], 1) * int(stated.pop("by", 1))
        name, text = next(iter(stated.items()), ("", ""))
        value = int(float(text) * factor * 10 + 0.5) / 10 if name in _NUMBERS else 0
        kind, words = text if name == "sign" else name, found[0].strip(" .!")
        if kind and words:
            yield Token(kind, words, value)


def named_tokens(tokens: list[Token]) -> Iterator[Token]:
    """The tokens with the longest known spelling at each word."""
    at = 0
    while at < len(tokens):
        for end in range(at + _LONGEST_KEY, at, -1):
            part = tokens[at:end]
            words = [x.text for x in part if x.kind in ("word", "times")]
            kind, *meant = TABLE.keys.get("".join(words), "").split(" ")
            if kind and len(words) == len(part):
                value = float(meant[0]) if kind == "count" else 0
                yield Token(kind, " ".join(words), value, tuple(meant))
                break
        else:
            yield tokens[at]
        at = min(end, len(tokens))


@cache
def _class(token: Token) -> str:
    """The class of a token in a model's name, one letter; `classes` in `spellings.toml`."""
    text = f"{token.kind} {token.text}"
    return next(name for name, pattern in _CLASSES if pattern.search(text))
