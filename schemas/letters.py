"""Recognise letters in names that nobody sees, or that can look like other letters."""

import re
import unicodedata

# Default_Ignorable_Code_Point of the Unicode Character Database without categories Cf and Cn, plus
# the blank pattern of Braille.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Names of models and devices have these letters and signs; no other letter looks like them.
ODD_LETTER = re.compile(r"[^A-Za-z0-9 ._+()\[\]/:,@&#-]")
_ODD = re.compile(r"LATIN LETTER SMALL CAPITAL ([A-Z])|LATIN SMALL LETTER DOTLESS ([A-Z])")


def is_styled(letter: str) -> bool:
    """Whether a character is a letter or digit in a styled form that no keyboard types."""
    return letter.isalnum() and (
        unicodedata.normalize("NFKC", letter) != letter or _plain(letter) != letter
    )


def _plain(letter: str) -> str:
    odd = None if letter.isascii() else _ODD.match(unicodedata.name(letter, ""))
    return (odd[1] or odd[2]).lower() if odd else letter
