"""The file name of a result, which is also its permanent address: only its content decides it."""

from schemas.canonical import file_name
from schemas.submission import Submission


def canonical_name(submission: Submission, data: bytes) -> str:
    """The name of a submission with these canonical bytes: device, target, day and content."""
    on_cpu = submission.engine.backend == "cpu" or not submission.machine.gpus
    processor = submission.machine.cpu.name or "unknown"
    machine = processor if on_cpu else submission.machine.gpus[0].name
    return file_name(
        machine=machine,
        target=submission.target.id,
        measured_from=submission.measured_from,
        data=data,
    )
