"""Clean up the marketing names of chips, and find their vendors."""

import re
from functools import lru_cache

from schemas.rig import Vendor
from schemas.vocabulary.documents import document

_CHIPS = document("chips")
_MARKS = re.compile(r"\((R|TM|C)\)|®|™", re.IGNORECASE)
_BOILERPLATE = re.compile("|".join(_CHIPS["boilerplate"]), re.ASCII)
_NO_CARD = re.compile("|".join(_CHIPS["no_card"]))
_BRANDS = re.compile("|".join(_CHIPS["brands"]))
_CLOCK = re.compile(r"@.*")
_VENDORS: dict[Vendor, re.Pattern[str]] = {
    vendor: re.compile(words, re.IGNORECASE) for vendor, words in _CHIPS["vendors"].items()
}


@lru_cache(maxsize=4096)
def short_name(name: str) -> str:
    """A marketing name without the boilerplate: `NVIDIA GeForce RTX 4060` becomes `RTX 4060`.

    The clock rate is dropped, too, unless it is all that distinguishes the model, as for some
    `Xeon`s.
    """
    without_clock = _bare(_CLOCK.sub("", name))
    found = without_clock if re.search("[0-9]", without_clock) else _bare(name.replace("@", ""))
    return found or name


def is_placeholder(name: str) -> bool:
    """Whether a name does not identify one card: `AMD Device 7551`, or `RX 7600/7600 XT`."""
    name = name[:200]  # the pattern matches a name on one line
    bracketed = re.search(r"\[([^]]+)\]", name)
    bare = re.sub(r"[\s,]+", " ", _BRANDS.sub(" ", (bracketed[1] if bracketed else name).lower()))
    return _NO_CARD.fullmatch(bare.strip()) is not None


def known_vendor(name: str) -> Vendor | None:
    """The maker of a chip, from its marketing name; `None` if the name does not show a maker."""
    return next((vendor for vendor, words in _VENDORS.items() if words.search(name)), None)


def vendor_of(name: str) -> Vendor:
    """The maker of a chip, from its marketing name; `other` if the name does not show a maker."""
    return known_vendor(name) or "other"


def _bare(name: str) -> str:
    return re.sub(r"\s+", " ", _BOILERPLATE.sub("", _MARKS.sub("", name))).strip()
