"""Where does a result go? Checked first, then written under its canonical name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness import cache
from harness.errors import HarnessError, MachineError
from schemas.canonical import canonical_bytes, file_name
from schemas.codec import encode
from schemas.contract import findings

if TYPE_CHECKING:
    from schemas.submission import Submission


def canonical_name(submission: Submission, data: bytes) -> str:
    """The name that a submission has in the results: machine, target, day and content."""
    on_cpu = submission.engine.backend == "cpu" or not submission.machine.gpus
    machine = submission.machine.cpu.name if on_cpu else submission.machine.gpus[0].name
    return file_name(
        machine=machine,
        target=submission.target.id,
        measured_from=submission.measured_from,
        data=data,
    )


def write(submission: Submission, output: Path | None) -> Path:
    """Write a submission and return where: `output`, or its canonical name in that directory.

    Raises `HarnessError` when the contract finds anything wrong, `MachineError` when the disk does.
    """
    data = canonical_bytes(encode(submission))
    found = findings(data)
    if found:
        message = (
            f"the result does not keep the format: {found[0].line('result')}; this is an error of "
            "the harness, please report it. What was measured is kept; --resume writes it again"
        )
        raise HarnessError(message)
    path = output or Path()
    if path.is_dir():
        path /= canonical_name(submission, data)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with cache.written(path) as part:
            part.write_bytes(data)
    except OSError as error:
        message = f"{path} cannot be written ({error.strerror}); use --output, then --resume"
        raise MachineError(message) from error
    return path
