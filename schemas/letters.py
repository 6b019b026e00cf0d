"""Recognise letters in names that nobody sees, or that can look like other letters."""

import re

# Default_Ignorable_Code_Point of the Unicode Character Database without categories Cf and Cn, plus
# the blank pattern of Braille.
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Names of models and devices have these letters and signs; no other letter looks like them.
ODD_LETTER = re.compile(r"[^A-Za-z0-9 ._+()\[\]/:,@&#-]")
