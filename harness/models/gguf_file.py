"""Open GGUF files, and explain why a file cannot be opened."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness.errors import BadInputError
from harness.models.gguf_parse import ALIGNMENT, MAGIC, GgufHeader, parse_header

# A part of a split model: the parts' common name, the part's number and the number of parts.
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
# Other kinds of files that often have a model's name, by their first bytes.
_OTHERS = {
    b"version https://git-lfs": "a Git LFS pointer; `git lfs pull` fetches the file itself",
    b"PK\x03\x04": "a zip archive; unpack it",
    b"ggjt": "in an older format than GGUF; look for a newer file of the model",
    b"<": "a web page; download the file itself",
    b"{": "JSON; name a model's GGUF file",
}
_LONGEST = max(map(len, _OTHERS))


def opened(path: Path) -> GgufHeader:
    """Return the header of a complete file.

    Raises `BadInputError` with the problem and a remedy.
    """
    check_start(path)
    found = parse_header(path.name, partial(_read, path))
    alignment = found.number("general.alignment") or ALIGNMENT
    weights = found.end + -found.end % alignment
    last = max((tensor.offset + tensor.bytes for tensor in found.tensors), default=0)
    size = path.stat().st_size
    if found.tensors and weights + last > size:
        raise BadInputError(
            f"{path.name} is cut off or broken after {size / 1e6:.1f} MB; download it again"
        )
    return found


def architecture_of(name: str, headers: Sequence[GgufHeader]) -> str:
    """Return the architecture of a model in one or more files.

    Raises `BadInputError` if the files name no architecture, or have no weights.
    """
    if headers[0].architecture is None:
        raise BadInputError(
            f"{name} names no architecture, so it is not a language model in GGUF format"
        )
    if not any(each.tensors for each in headers):
        raise BadInputError(f"{name} has no weights; the file has only a vocabulary, or is cut off")
    return headers[0].architecture


def part_paths(path: Path) -> tuple[Path, ...]:
    """Return all files of a split model in order if `path` is one of them, else only `path`."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return (path,)
    stem, count = match["stem"], match["count"]
    names = [f"{stem}-{number:05d}-of-{count}.gguf" for number in range(1, int(count) + 1)]
    parts = tuple(path.with_name(name) for name in names)
    for part in parts:
        if not part.is_file():
            raise BadInputError(
                f"{part.name} is missing; all {int(count)} parts must be in the same folder"
            )
    return parts


def refuse_renamed_part(first: GgufHeader, path: Path) -> None:
    """Raise `BadInputError` for a renamed part of a split model: its other parts are not found."""
    count = first.number("split.count") or 1
    if count > 1 and _PART.fullmatch(path.name) is None:
        part = (first.number("split.no") or 0) + 1
        raise BadInputError(
            f"{path.name} is part {part} of {count} of a model; put all parts into one folder "
            f"and name them NAME-00001-of-{count:05d}.gguf and so on"
        )


def check_start(path: Path) -> None:
    """Raise `BadInputError` for a file that is not GGUF, naming the actual file type."""
    if not path.is_file():
        raise BadInputError(
            f"{path} does not exist; give a GGUF file, a preset or owner/repo:quant"
        )
    start = _read(path, 0, _LONGEST)
    if start.startswith(MAGIC):
        return
    if not start:
        raise BadInputError(f"{path.name} is empty; download it again")
    other = next((what for begin, what in _OTHERS.items() if start.startswith(begin)), None)
    unknown = "it does not start with GGUF; download it again, or name another file"
    what = f"it is {other}" if other else unknown
    raise BadInputError(f"{path.name} is not a GGUF file: {what}")


def sparse_copy(header: bytes, total_bytes: int, path: Path) -> None:
    """Write a sparse file of the full length that contains only the header."""
    with path.open("wb") as file:
        file.write(header)
        file.truncate(total_bytes)


def _read(path: Path, start: int, length: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(length)
    except OSError as error:
        raise BadInputError(
            f"{path.name} cannot be read ({error.strerror}); check its permissions"
        ) from error
