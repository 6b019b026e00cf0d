"""What do names tell? A file of weights names model and quantisation, a label its vendor."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    Vendor = Literal["nvidia", "amd", "intel", "apple", "qualcomm", "other"]

_WEIGHTS = re.compile(
    r"(?P<name>.+?)[-.]"
    r"(?P<quantisation>(?:UD-)?(?:I?Q[0-9][A-Z0-9_]*|TQ[0-9]_[0-9]|BF16|F16|F32|MXFP4[A-Z_]*))"
    r"(?:-[0-9]{5}-of-[0-9]{5})?",
    re.IGNORECASE,
)
_VENDORS: dict[str, Vendor] = {
    "nvidia": "nvidia",
    "geforce": "nvidia",
    "rtx ": "nvidia",
    "gtx ": "nvidia",
    "tesla": "nvidia",
    "radeon": "amd",
    "amd ": "amd",
    "instinct": "amd",
    "intel": "intel",
    "arc ": "intel",
    "apple": "apple",
    "adreno": "qualcomm",
}
# 27B and 0.5B are sizes, the 7B of 8x7B and the 4B of E4B are not.
_SIZE = re.compile(r"(?<![A-Za-z0-9.])([0-9]+(?:\.[0-9]+)?[BM])(?![A-Za-z0-9])", re.IGNORECASE)
_ACTIVE = re.compile(r"(?<![A-Za-z0-9])A([0-9]+(?:\.[0-9]+)?B)(?![A-Za-z0-9])", re.IGNORECASE)
_LONGEST_ID = 64
_DIGEST = 8


def without_folders(path: str) -> str:
    """The last part of a path of any system: folders name people."""
    return re.split(r"[/\\]", path)[-1]


def model_facts(path: str, prefix: str = "") -> dict[str, str]:
    """Name and quantisation, as far as the name of a file of weights says them."""
    stem = re.sub(r"\.(?:gguf|safetensors)$", "", without_folders(path), flags=re.IGNORECASE)
    match = _WEIGHTS.fullmatch(stem)
    name = prefix or "target"
    if match is None:
        return {name: stem} if stem else {}
    key = f"{prefix}_quantisation" if prefix else "quantisation"
    return {name: match["name"], key: match["quantisation"].upper()}


def size_in(name: str) -> str | None:
    """The parameters that the name of a model gives, such as 27B."""
    match = _SIZE.search(name)
    return match[1] if match else None


def active_size_in(name: str) -> str | None:
    """The parameters for each token that the name of a mixture of experts gives."""
    match = _ACTIVE.search(name)
    return match[1] if match else None


def digest16(text: str) -> str:
    """16 hex digits that are equal for equal texts."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def vendor_of(gpu: str) -> Vendor | None:
    """The vendor that the marketing name of a GPU names."""
    words = f"{gpu.lower()} "
    return next((vendor for sign, vendor in _VENDORS.items() if sign in words), None)


def id_of(text: str) -> str:
    """An id for a text: lower case, other characters as hyphens, cut with a digest if too long."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._") or "unnamed"
    if len(plain) <= _LONGEST_ID:
        return plain
    return f"{plain[: _LONGEST_ID - _DIGEST - 1].rstrip('-._')}-{_digest(text)}"


def ids_of(texts: Iterable[str]) -> dict[str, str]:
    """Different ids for different texts."""
    found: dict[str, str] = {}
    for each in texts:
        if each in found:
            continue
        plain = id_of(each)
        taken = plain in found.values()
        found[each] = f"{plain[: _LONGEST_ID - _DIGEST - 1]}-{_digest(each)}" if taken else plain
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
