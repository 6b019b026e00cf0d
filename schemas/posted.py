"""Convert a result to text for a web form and back: compressed base64 between two marker lines."""

import base64
import lzma
import textwrap

from schemas.strict import MAX_BYTES

BEGIN, END = "-----BEGIN DRAFTMAP RESULT-----", "-----END DRAFTMAP RESULT-----"
MOST_CHARACTERS = 60_000  # GitHub accepts 65,536 in an issue, including the form's other words
_WIDTH = 76
# Decompression with the preset needs far less memory; a hostile header could request gigabytes.
_MOST_MEMORY = 100 << 20


class UnreadableTextError(ValueError):
    """A text has several results, or one that is incomplete, damaged or too large."""


def to_text(data: bytes) -> str:
    """The bytes of a result as lines that survive a web form."""
    packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
    lines = textwrap.wrap(base64.b64encode(packed).decode(), _WIDTH)
    return "\n".join((BEGIN, *lines, END)) + "\n"


def from_text(text: str) -> bytes | None:
    """The bytes of the result in a text; `None` without a result. Raises `UnreadableTextError`."""
    before, *found = text.split(BEGIN)
    if len(found) > 1:
        raise UnreadableTextError(
            f"the text contains {len(found)} results; send each result in a separate form"
        )
    if not found or END not in found[0]:
        if found or END in before:
            raise UnreadableTextError(
                "the first or the last line of the text is missing; copy the whole text"
            )
        return None
    try:
        # A foreign, perhaps invisible letter or a partial text is a `ValueError`.
        packed = base64.b64decode("".join(found[0].partition(END)[0].split()), validate=True)
        reader = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
        data = reader.decompress(packed, MAX_BYTES + 1)
    except (ValueError, lzma.LZMAError) as error:
        raise UnreadableTextError(
            "the text is damaged; copy it again as `draftmap submit` printed it"
        ) from error
    if len(data) > MAX_BYTES:
        raise UnreadableTextError(f"the result is larger than the limit of {MAX_BYTES:,} bytes")
    if not reader.eof or reader.unused_data:
        raise UnreadableTextError(
            "the text ends too early or too late; copy the whole text, and nothing else"
        )
    return data
