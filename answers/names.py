"""Cards as people write them: `dual 3090`, `2x RTX4070ti`, `strix halo`."""

import difflib
import re
from functools import cache

from estimates.roofline import devices
from schemas.vocabulary import SPELLINGS

_NEAREST = 3
_SIZE = re.compile(r"\d+(?:\.\d+)?\s*(?:gib|gb|g)\b(?:\s*(?:of\s+)?(?:vram|ram|memory))?")
_COUNT = re.compile(r"(?<![\w.])(\d)\s*x\s+|\s+x\s*(\d)(?![\w.])|(?<![\w.])(\d)\s*x(?=[a-z]*\d)")
_ANY_OF = {
    name: "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    for name, words in (("families", SPELLINGS.families), ("variants", SPELLINGS.variants))
}
# "rtx4060tisuper" is "rtx 4060 ti super"; other words are left as they are.
_GLUED = re.compile(
    rf"((?:{_ANY_OF['families']})*)([a-z]{{0,2}}\d+[a-z]?)((?:{_ANY_OF['variants']})*)"
)
_VARIANT = re.compile(_ANY_OF["variants"])


def cards_named(text: str) -> tuple[str, int] | None:
    """The card of the table that a text names, and how many of it; `None` for no known one."""
    plain, count = _counted(_in_plain_words(text))
    asked = frozenset(_words(plain))
    several = frozenset(re.sub(r"(?<=\d)s$", "", word) for word in asked)  # "two P40s"
    exact = _with_words(asked) or _with_words(several)
    fitting = exact or _holding(asked)
    # Of a card that is sold in several sizes, the one that the text names.
    sizes = {_plain(size) for size in _SIZE.findall(text.lower())}
    sized = [name for name in fitting if {_plain(size) for size in _SIZE.findall(name)} & sizes]
    found = sized or exact or (fitting if len(fitting) == 1 else [])
    return (found[0], count) if found else None


def nearest_cards(text: str) -> tuple[str, ...]:
    """The names of the table that are most like a text, at most three."""
    plain, _ = _counted(_in_plain_words(text))
    near = difflib.get_close_matches(plain.strip(), [*_known()], n=_NEAREST, cutoff=0.4)
    return tuple(_holding(frozenset(_words(plain))) or near)[:_NEAREST]


def _plain(size: str) -> str:
    return "".join(re.findall(r"[\d.]+", size))


def _with_words(asked: frozenset[str]) -> list[str]:
    return [name for name, words in _known().items() if words == asked]


def _holding(asked: frozenset[str]) -> list[str]:
    """The names that hold all of the words, one of them with a digit: `h100` finds `h100 pcie`."""
    numbered = any(char.isdigit() for word in asked for char in word)
    return [name for name, words in _known().items() if numbered and asked < words]


def _in_plain_words(text: str) -> str:
    """Lower case, without a memory, with the usual word for each other one."""
    plain = _SIZE.sub(" ", text.lower().replace("\N{MULTIPLICATION SIGN}", "x "))
    for phrase in sorted(SPELLINGS.phrases, key=len, reverse=True):
        plain = plain.replace(phrase, SPELLINGS.phrases[phrase])
    words = re.split(r"[^a-z0-9.+]+", plain)
    return " ".join(SPELLINGS.words.get(word, word) for word in words if word)


def _counted(plain: str) -> tuple[str, int]:
    """The text without the count of cards, and the count."""
    found = _COUNT.search(plain)
    if found is None:
        return plain, 1
    return _COUNT.sub(" ", plain, count=1), int(next(filter(None, found.groups())))


def _words(plain: str) -> list[str]:
    """The words that tell cards apart."""
    found: list[str] = []
    for word in plain.split():
        glued = _GLUED.fullmatch(word)
        parts = [glued[2], *_VARIANT.findall(glued[3])] if glued else [word]
        found += [SPELLINGS.words.get(part, part) for part in parts]
    split = " ".join(found).split()
    return [word for word in split if word not in (*SPELLINGS.makers, *SPELLINGS.families)]


@cache
def _known() -> dict[str, frozenset[str]]:
    names = devices().bandwidth_gb_per_s
    return {name: frozenset(_words(_in_plain_words(name))) for name in names}


def card_key(label: str) -> str | None:
    found = cards_named(label)
    return found[0] if found else None
