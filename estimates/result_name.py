"""The file name of a result, which is also its permanent address: only its content decides it."""

from estimates.identity import identify
from schemas.canonical import file_name
from schemas.submission import Submission


def canonical_name(submission: Submission, data: bytes) -> str:
    """The name of a submission with these canonical bytes: device, target, day and content."""
    return file_name(
        machine=identify(submission).processor or "unknown",
        target=submission.target.id,
        measured_from=submission.measured_from,
        data=data,
    )
