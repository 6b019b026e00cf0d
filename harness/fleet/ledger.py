"""Records what a fleet has done in `fleet.jsonl`; a second start continues from there."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from estimates.identity import canonical_name
from harness import files
from harness.errors import BadInputError, MachineError
from harness.fleet.placement import Cell, Place
from schemas.contract import read
from schemas.submission import Submission

NAME = "fleet.jsonl"


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: a cell was started, ended, or failed, where and with which files."""

    cell: str
    event: Literal["started", "lost", "failed", "done"]
    rig: str = ""
    device: str = ""
    files: tuple[str, ...] = ()
    seconds: float | None = None
    why: str = ""

    @property
    def place(self) -> Place:
        return Place(self.rig, self.device)


class Ledger:
    """The entries of an output folder; each is on the disk when `add` returns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / NAME
        self.entries = [*_read(self._path)]

    def add(self, entry: Entry) -> None:
        """Append an entry. Raises `MachineError`."""
        self.entries.append(entry)
        try:
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(entry) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            message = f"{self._path} cannot be written ({error.strerror}); free some space"
            raise MachineError(message) from error

    def done(self) -> dict[str, Entry]:
        """The cells whose files are all here."""
        return {
            entry.cell: entry
            for entry in self.entries
            if entry.event == "done" and all((self.folder / name).is_file() for name in entry.files)
        }

    def journals(self) -> dict[str, Place]:
        """Where a cell that is not done was measured last: its journal is there."""
        found: dict[str, Place] = {}
        for entry in self.entries:
            if entry.event in ("started", "lost"):
                found[entry.cell] = entry.place
            else:
                found.pop(entry.cell, None)
        return found

    def keep(self, cell: Cell, place: Place, texts: Sequence[str], seconds: float) -> Entry:
        """Write the result files of a cell, and that it is done.

        The entry comes first: a cell whose files are not all there is measured again, and there
        are no files that nobody knows of.

        Raises `BadInputError` where a file is invalid, or speaks of another backend than asked for.
        """
        found = {_name(cell, text.encode()): text.encode() for text in texts}
        done = Entry(
            cell=cell.id,
            event="done",
            rig=place.rig,
            device=place.device,
            files=tuple(found),
            seconds=seconds,
        )
        self.add(done)
        for name, data in found.items():
            with files.written(self.folder / name) as part:
                part.write_bytes(data)
        return done


def _name(cell: Cell, data: bytes) -> str:
    submission = read(data, file="result")
    if not isinstance(submission, Submission):
        message = f"its result is invalid: {submission[0].line()}"
        raise BadInputError(message)
    if cell.backend not in (None, submission.engine.backend):
        message = f"asked for {cell.backend}, measured with {submission.engine.backend}"
        raise BadInputError(message)
    return canonical_name(submission, data)


def _read(path: Path) -> Iterator[Entry]:
    """The entries of a file; an incomplete last line, as a power cut leaves it, is cut off."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        os.truncate(path, len(whole))
    for line in whole.splitlines():
        try:
            yield msgspec.json.decode(line, type=Entry)
        except msgspec.DecodeError as error:
            message = f"{path} is not of this version ({error}); choose another --output"
            raise BadInputError(message) from error
