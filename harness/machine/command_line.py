"""Split and join command lines as the shell of this system does."""

import re
import shlex
import sys
from collections.abc import Sequence

WINDOWS: bool = sys.platform == "win32"
_PLAIN = re.compile(r"[\w.:/\\=+-]+")
_PARTS = re.compile(
    r"""\s+|(?P<escaped>\\")|"(?P<double>(?:\\"|[^"])*)"|(?P<open>")|(?P<plain>[^\s"\\]+|\\)"""
)
_SINGLE = re.compile(r"(?<!\S)'([^']*)'(?!\S)")


def split_command(text: str, *, windows: bool = WINDOWS) -> list[str]:
    """Return the words of a command line. Raises `ValueError` for an unclosed quotation.

    On Windows a backslash is part of a path, except before a quotation mark. A string in single
    quotes, such as JSON in the help of servers, is one word on Windows too.
    """
    if not windows:
        return shlex.split(text)
    words: list[str] = []
    rest = 0
    for quoted in _SINGLE.finditer(text):
        words += [*_windows_words(text[rest : quoted.start()]), quoted[1]]
        rest = quoted.end()
    return words + _windows_words(text[rest:])


def _windows_words(text: str) -> list[str]:
    words: list[str] = []
    inside = False
    for part in _PARTS.finditer(text):
        if part["open"] is not None:
            raise ValueError("No closing quotation")
        if part.lastgroup is None:
            inside = False
            continue
        piece = part[part.lastgroup].replace('\\"', '"')
        words = [*words[:-1], words[-1] + piece] if inside else [*words, piece]
        inside = True
    return words


def join_command(words: Sequence[str], *, windows: bool = WINDOWS) -> str:
    """Join words into a command line that `split_command` splits into the same words."""
    return " ".join(quoted(word, windows=windows) for word in words)


def quoted(word: str, *, windows: bool = WINDOWS) -> str:
    """Quote a word for the shell of this system: a POSIX shell, or PowerShell."""
    if not windows:
        return shlex.quote(word)
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace('"', '\\"')
    # PowerShell also reads typographic quotation marks as single quotes.
    return f'"{escaped}"' if re.search("['\u2018-\u201b]", word) else f"'{word}'"


def pasted(words: Sequence[str], *, windows: bool = WINDOWS) -> str:
    """Return a command that can be pasted into the shell of this system."""
    line = join_command(words, windows=windows)
    return f"& {line}" if windows and line[:1] in "\"'" else line  # else PowerShell prints the text
