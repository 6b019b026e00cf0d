"""Read the marketing names of chips: their short form and their vendor."""

import re
from functools import lru_cache

from schemas.rig import Vendor

_MARKS = re.compile(r"\((R|TM|C)\)|®|™", re.IGNORECASE)
_BOILERPLATE = re.compile(
    r"\b(NVIDIA|GeForce|Radeon(?=\s+RX\b)|AMD|Intel|Graphics|GPU|CPU|Processor|[0-9]+-Core)\b"
    r"|\bw(ith|/) Radeon.*$",
    re.ASCII,
)
_CLOCK = re.compile(r"@.*")
_VENDORS: dict[Vendor, re.Pattern[str]] = {
    "nvidia": re.compile(r"nvidia|geforce|quadro|tesla|\b[rg]tx\b", re.IGNORECASE),
    "amd": re.compile("amd|radeon|ryzen|epyc|instinct", re.IGNORECASE),
    "intel": re.compile(r"intel|\barc\b", re.IGNORECASE),
    "apple": re.compile("apple", re.IGNORECASE),
    "qualcomm": re.compile("qualcomm|snapdragon|adreno", re.IGNORECASE),
}


@lru_cache(maxsize=4096)
def short_name(name: str) -> str:
    """A marketing name without boilerplate: `NVIDIA GeForce RTX 4060` is `RTX 4060`.

    The clock goes too, unless it is all that distinguishes one `Xeon` from another.
    """
    without_clock = _bare(_CLOCK.sub("", name))
    found = without_clock if re.search("[0-9]", without_clock) else _bare(name.replace("@", ""))
    return found or name


def known_vendor(name: str) -> Vendor | None:
    """The maker of a chip, by its marketing name."""
    return next((vendor for vendor, words in _VENDORS.items() if words.search(name)), None)


def vendor_of(name: str) -> Vendor:
    """The same, `other` where the name does not tell."""
    return known_vendor(name) or "other"


def _bare(name: str) -> str:
    return re.sub(r"\s+", " ", _BOILERPLATE.sub("", _MARKS.sub("", name))).strip()
