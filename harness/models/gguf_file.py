"""Opens GGUF files, and explains why one cannot be opened. Weights are mapped, not loaded."""

import re
from pathlib import Path

from gguf import GGUFReader

from harness.errors import BadInputError

_MAGIC = b"GGUF"
# A model in several files: the parts' common name, the part's number and the number of parts.
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
# What is often found under the name of a model, by its first bytes.
_OTHERS = {
    b"version https://git-lfs": "a pointer of Git LFS; `git lfs pull` fetches the file itself",
    b"PK\x03\x04": "a zip archive; unpack it",
    b"ggjt": "of a format before GGUF; look for a newer file of the model",
    b"<": "a web page; download the file itself",
}
_LONGEST = max(map(len, _OTHERS))


def opened(path: Path) -> GGUFReader:
    """The file with its header read. Raises `BadInputError` with what is wrong and what to do."""
    check_start(path)
    try:
        reader = GGUFReader(path)
        # Touching the last byte of the last tensor finds a file that was cut off.
        complete = all(tensor.data.nbytes == tensor.n_bytes for tensor in reader.tensors)
    except (ValueError, IndexError, KeyError, OSError, OverflowError, MemoryError) as error:
        raise _incomplete(path) from error  # a library's words, about arrays and shapes
    if not complete:
        raise _incomplete(path)
    return reader


def part_paths(path: Path) -> tuple[Path, ...]:
    """The files that make up the model, first part first, when `path` is one of several."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return (path,)
    stem, count = match["stem"], match["count"]
    names = [f"{stem}-{number:05d}-of-{count}.gguf" for number in range(1, int(count) + 1)]
    parts = tuple(path.with_name(name) for name in names)
    for part in parts:
        if not part.is_file():
            message = f"{part.name} is missing; all {int(count)} parts must be in the same folder"
            raise BadInputError(message)
    return parts


def refuse_renamed_part(reader: GGUFReader, path: Path) -> None:
    """Raise `BadInputError` for a part of a split model whose name does not lead to the others."""
    count = number(reader, "split.count") or 1
    if count > 1 and _PART.fullmatch(path.name) is None:
        part = (number(reader, "split.no") or 0) + 1
        message = (
            f"{path.name} is part {part} of {count} of a model; "
            f"put all parts into one folder, named NAME-00001-of-{count:05d}.gguf and so on"
        )
        raise BadInputError(message)


def text(reader: GGUFReader, key: str) -> str | None:
    """A field that is a text; `None` when it is missing or empty."""
    field = reader.get_field(key)
    value = field.contents() if field else None
    return value.strip() or None if isinstance(value, str) else None


def number(reader: GGUFReader, key: str) -> int | None:
    """A field that is a whole number; of one number per layer the largest."""
    field = reader.get_field(key)
    value = field.contents() if field else None
    if isinstance(value, list):
        return max(value, default=None)
    return int(value) if isinstance(value, int) else None


def flag(reader: GGUFReader, key: str, *, default: bool) -> bool:
    """A field that is yes or no."""
    field = reader.get_field(key)
    return bool(field.contents()) if field else default


def _incomplete(path: Path) -> BadInputError:
    mb = path.stat().st_size / 1e6
    message = f"{path.name} is cut off or broken after {mb:.1f} MB; download it again"
    return BadInputError(message)


def check_start(path: Path) -> None:
    """Raise `BadInputError` for a file that is none of GGUF, with what it is instead."""
    if not path.is_file():
        message = f"{path} does not exist; give a GGUF file, a preset or owner/repo:quant"
        raise BadInputError(message)
    try:
        with path.open("rb") as file:
            start = file.read(_LONGEST)
    except OSError as error:
        message = f"{path.name} cannot be read ({error.strerror}); check its permissions"
        raise BadInputError(message) from error
    if start.startswith(_MAGIC):
        return
    if not start:
        message = f"{path.name} is empty; download it again"
        raise BadInputError(message)
    known = next((what for begin, what in _OTHERS.items() if start.startswith(begin)), None)
    what = f"it is {known}" if known else "it does not start with GGUF; download it again"
    message = f"{path.name} is not a GGUF file: {what}"
    raise BadInputError(message)
