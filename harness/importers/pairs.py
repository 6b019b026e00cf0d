"""Which file is which arm? Tools that measure one server at a time leave a file for each arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.importers.model import BASELINE, ArmRead
from harness.importers.names import id_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.importers.model import Record
    from harness.importers.source import Given


def named(files: Sequence[Given]) -> list[tuple[str, Given]]:
    """The arm of every file: as `ARM=FILE` says, else the first is the baseline.

    Further files are named after their file; files that name the same arm repeat it.
    """
    has_baseline = any(file.arm == BASELINE for file in files)
    if files[0].arm and not has_baseline:
        message = f"{files[0].name}: no file is the baseline; write {BASELINE}=FILE for one"
        raise BadInputError(message)
    return [
        (file.arm or (BASELINE if number == 0 and not has_baseline else id_of(file.stem)), file)
        for number, file in enumerate(files)
    ]


def arms(
    records: Iterable[Record],
    files: Sequence[tuple[str, Given]],
    concurrency: Mapping[str, int],
    methods: Mapping[str, str] | None = None,
) -> tuple[ArmRead, ...]:
    """The arms of the files, the baseline first. Raises `BadInputError` if the baseline drafted."""
    for record in records:
        if record.arm == BASELINE and record.drafted:
            message = (
                f"{record.place}: {record.drafted} tokens drafted, but this file is the baseline; "
                "give the baseline first, or name the arms: baseline=FILE mtp=FILE"
            )
            raise BadInputError(message)
    names = dict.fromkeys([BASELINE, *(arm for arm, _ in files)])
    return tuple(
        ArmRead(
            name=name,
            method="none" if name == BASELINE else (methods or {}).get(name),
            concurrency=concurrency.get(name),
        )
        for name in names
    )
