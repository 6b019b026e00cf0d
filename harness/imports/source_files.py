"""Open the given files: unpack them, decode them, and find each file's arm."""

import codecs
import gzip
import hashlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BadInputError, unreadable

BASELINE = "baseline"
MAX_BYTES = 64 * 1024 * 1024
_GZIP = b"\x1f\x8b"
# Byte-order marks, written by Windows editors and by Windows shells for `>`.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_ARM = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,39})=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A given file: its name, its unpacked bytes, and the arm named in `ARM=FILE`."""

    name: str
    data: bytes
    arm: str | None = None

    @property
    def stem(self) -> str:
        return self.name.removesuffix(".gz").rsplit(".", 1)[0]

    @property
    def text(self) -> str:
        """The text without byte-order mark.

        Raises `BadInputError` if the bytes are not text.
        """
        mark = next((mark for mark in _MARKS if self.data.startswith(mark)), b"")
        encoding = _MARKS.get(mark, "utf-8")
        try:
            return self.data.removeprefix(mark).decode(encoding)
        except UnicodeDecodeError as error:
            at = len(mark) + error.start
            raise wrong(
                self.name, f"not valid {encoding.upper()} at byte {at}", "save it as UTF-8"
            ) from error


def wrong(place: str, fault: str, remedy: str = "") -> BadInputError:
    """Return the error for a fault at a place of the files, with the next step."""
    return BadInputError(f"{place}: {fault}" + (f"; {remedy}" if remedy else ""))


def given(path: Path, arm: str | None = None) -> Given:
    """Read one file, unpacking gzip. Raises `BadInputError` if the file cannot be read."""
    try:
        with path.open("rb") as stream:
            is_packed = stream.peek(len(_GZIP)).startswith(_GZIP)
            data = (gzip.GzipFile(fileobj=stream) if is_packed else stream).read(MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        remedy = "give the original archive, or the unpacked file"
        raise wrong(str(path), f"cannot be unpacked: {error}", remedy) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > MAX_BYTES:
        raise wrong(str(path), f"larger than {MAX_BYTES >> 20} MiB", "give the raw records only")
    if not data.strip():
        raise wrong(str(path), "the file is empty", "the tool wrote nothing into it")
    return Given(name=path.name, data=data, arm=arm)


def arm_and_path(argument: str) -> tuple[str | None, Path]:
    """Return arm and path of `ARM=FILE`; any other argument, or an existing file, has no arm."""
    match = None if Path(argument).exists() else _ARM.fullmatch(argument)
    return (match[1].lower(), Path(match[2])) if match else (None, Path(argument))


def digest(files: Sequence[Given]) -> str:
    """Return the SHA-256 of a file; for several files, that of their hex digests, one per line."""
    digests = [hashlib.sha256(file.data).hexdigest() for file in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(f"{each}\n" for each in digests).encode()).hexdigest()
