"""Make the ids of a result from the names in other tools' files."""

import hashlib
import re
from collections.abc import Iterable

_LONGEST_ID = 64
_DIGEST = 8


def id_of(text: str) -> str:
    """Turn a name into an id: lower case, with hyphens; a long name is cut and gets a digest."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._") or "unnamed"
    if len(plain) <= _LONGEST_ID:
        return plain
    return f"{plain[: _LONGEST_ID - _DIGEST - 1].rstrip('-._')}-{_digest(text)}"


def ids_of(texts: Iterable[str]) -> dict[str, str]:
    """Return the id for each name; different names get different ids."""
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
