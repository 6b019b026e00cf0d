"""Recognise invisible letters, and names that look alike."""

import re
import unicodedata

# Default_Ignorable_Code_Point of the Unicode Character Database without categories Cf and Cn, plus
# the blank pattern of Braille.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Letters of other alphabets that look like Latin ones in most typefaces, after NFKC and casefold.
_LATIN = str.maketrans(
    # Cyrillic, then Greek
    "\u0430\u0432\u0435\u0456\u0458\u043a\u043c\u043d\u043e"
    "\u0440\u0441\u0455\u0442\u0443\u0445\u0501\u051b\u04bb"
    "\u03bf\u03b1\u03bd\u03b9\u03ba\u03c1\u03c4\u03c5\u03c7",
    "abeijkmhopcstyxdqhoavikptux",
)
_ODD = re.compile(r"LATIN LETTER SMALL CAPITAL ([A-Z])|LATIN SMALL LETTER DOTLESS ([A-Z])")


def skeleton(name: str) -> str:
    """The visible form of a name, which is equal for names that look the same.

    This form is simpler than the skeleton of Unicode Technical Standard 39, whose table is not
    included.
    """
    plain = "".join(map(_plain, unicodedata.normalize("NFKC", INVISIBLE.sub("", name)).casefold()))
    return re.sub(r"[^\w+]+|_+", "-", plain.translate(_LATIN)).strip("-")


def is_styled(letter: str) -> bool:
    """Whether a character is a letter or digit in a styled form that no keyboard types."""
    return letter.isalnum() and (
        unicodedata.normalize("NFKC", letter) != letter or _plain(letter) != letter
    )


def _plain(letter: str) -> str:
    odd = None if letter.isascii() else _ODD.match(unicodedata.name(letter, ""))
    return (odd[1] or odd[2]).lower() if odd else letter
