"""Clean up the marketing names of chips, and find their vendors."""

import re
from functools import lru_cache

from schemas.rig import Vendor

_MARKS = re.compile(r"\((R|TM|C)\)|®|™", re.IGNORECASE)
_BOILERPLATE = re.compile(
    r"\b(NVIDIA|GeForce|Radeon(?=\s+RX\b)|AMD|Intel|Graphics|GPU|CPU|Processor|[0-9]+-Core)\b"
    r"|\bw(ith|/) Radeon.*$",
    re.ASCII,
)
# Names that drivers and lspci give unknown cards, several cards with one number, and displays of a
# system or virtual machine. Additions in brackets do not name a card either.
_NO_CARD = re.compile(
    r"(vga |3d )?(compatible )?(controller|adapter|display|gpu|graphics|video|unknown|n/a|none)"
    r"( (device|controller|adapter|processor|unit|card|display))*( ?#?[0-9a-f]{1,2})?"
    r"|device( [0-9a-fx:]+)?|gfx ?[0-9a-f]{3,4}\w*"
    r"|(advanced micro devices.*|integrated|onboard|discrete|dedicated|family)?( ?graphics)*"
    r"|(navi|polaris|dg|(bmg|battlemage).?g) ?[0-9x]{1,2}( xtx?| xl)?|(ad|ga|tu|gb|gh|gv) ?[0-9]{3}"
    r"|.*\b(basic (display|render)|standard vga|remote display|indirect display|virtual|virtio"
    r"|vmware|svga|qxl|bochs|cirrus|aspeed|matrox|hyper-v|parallels|llvmpipe|softpipe|swiftshader"
    r"|lavapipe|displaylink|citrix)\b.*"
    r"|.*[0-9]\w*( (xtx?|gre|ti|super))? ?/ ?(\w+ ){0,3}\w*[0-9].*",
)
_BRANDS = re.compile(
    r"\([^)]*\)|®|™"
    r"|\b(nvidia|geforce|amd/ati|amd|ati|radeon|intel|corporation|inc|apple|qualcomm|series)\b\.?"
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
