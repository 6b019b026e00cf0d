"""Flags about what names and notes contain."""

import unicodedata

from estimates.flags.evidence import Evidence
from estimates.model import Flag
from schemas import private
from schemas.vocabulary import say

# Alphabets with letters that look like those of another one.
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
_STYLED = ("FULLWIDTH", "MATHEMATICAL")


def private_data(evidence: Evidence) -> Flag | None:
    """A text may identify a person or a machine."""
    found = {
        kind: path
        for path, text in private.texts(evidence.submission)
        if (kind := private.personal(text, path))
    }
    if not found:
        return None
    places = say.listed([f"{kind} at {path}" for kind, path in found.items()])
    return Flag(
        name="private-data",
        severity="caution",
        message=f"This may identify a person or a machine: {places}.",
        remedy="Results are public for ever; measure again without it, or take the text out.",
    )


def confusable_letters(evidence: Evidence) -> Flag | None:
    """A name is written with letters that look like those of another alphabet."""
    odd = [path for path, text in private.texts(evidence.submission) if _is_confusable(path, text)]
    if not odd:
        return None
    return Flag(
        name="confusable-letters",
        severity="caution",
        message=f"Letters of several alphabets look alike in one name: {say.listed(odd)}.",
        remedy="Write the name with the letters that its maker uses.",
    )


def _is_confusable(path: str, text: str) -> bool:
    if text.isascii() or path == "$.notes":
        return False
    words = "".join(each if each.isalnum() else " " for each in text).split()
    latin = "LATIN" in _alphabets(text)
    return any(_is_mixed(word, latin=latin) or _is_styled(word) for word in words)


def _is_mixed(word: str, *, latin: bool) -> bool:
    """Two alphabets in a word, or another one in a number such as 4090 within a Latin name."""
    found = _alphabets(word)
    numbered = any(each.isdigit() for each in word)
    return len(found) > 1 or (latin and numbered and bool(found - {"LATIN"}))


def _alphabets(word: str) -> set[str]:
    names = (unicodedata.name(letter, "").partition(" ")[0] for letter in word)
    return {name for name in names if name in _ALPHABETS}


def _is_styled(word: str) -> bool:
    return any(unicodedata.name(letter, "").startswith(_STYLED) for letter in word)
