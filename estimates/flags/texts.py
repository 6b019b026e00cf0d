"""Flags about the contents of names and notes."""

import unicodedata

from estimates.flags.observation import FlagEvidence, Observation
from schemas import private
from schemas.letters import is_styled

# Alphabets whose letters look like letters of another alphabet.
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
_STROKES = "\N{MINUS SIGN}\N{FRACTION SLASH}\N{DIVISION SLASH}"


def private_data(evidence: FlagEvidence) -> Observation | None:
    """A name or note may identify a person or a machine."""
    found = {
        kind: path
        for path, text in private.texts(evidence.submission)
        if (kind := private.personal(text, path))
    }
    places = [f"{kind} at {path}" for kind, path in found.items()]
    return Observation(places=places) if places else None


def confusable_letters(evidence: FlagEvidence) -> Observation | None:
    """A name has letters that look like letters of another alphabet."""
    odd = [path for path, text in private.texts(evidence.submission) if _is_confusable(path, text)]
    return Observation(places=odd) if odd else None


def _is_confusable(path: str, text: str) -> bool:
    if text.isascii() or path == "$.notes":
        return False
    words = "".join(each if each.isalnum() else " " for each in text).split()
    latin = "LATIN" in _alphabets(text)
    styled = any(is_styled(letter) or letter in _STROKES for letter in text)
    # Two alphabets in a word, or in a Latin name a number such as 4090 in another alphabet.
    mixed = any(len(_alphabets(word)) > 1 for word in words)
    numbers = [word for word in words if latin and any(map(str.isdigit, word))]
    return styled or mixed or any(_alphabets(word) - {"LATIN"} for word in numbers)


def _alphabets(word: str) -> set[str]:
    names = (unicodedata.name(letter, "").partition(" ")[0] for letter in word)
    return {name for name in names if name in _ALPHABETS}
