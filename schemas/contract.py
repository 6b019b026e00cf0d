"""Judge the bytes of a file: return the typed submission, or all findings.

There are three steps: strict load, schema, rules between fields. Each step runs only if the
previous step found nothing. `file` is the file name that findings state.
"""

from datetime import datetime

from schemas import strict
from schemas.codec import decode, encode
from schemas.finding import Finding, bounded, in_file
from schemas.migrations import migrated
from schemas.rules import RULES
from schemas.rules.contradictions import measured_in_future
from schemas.submission import Submission
from schemas.validator import SUBMISSION_SCHEMA, schema_findings


def findings(data: bytes, *, file: str = "") -> tuple[Finding, ...]:
    """All faults in the bytes of a submission; empty if it is valid. Never raises."""
    result = read(data, file=file)
    return () if isinstance(result, Submission) else result


def read(
    data: bytes, *, file: str = "", now: datetime | None = None
) -> Submission | tuple[Finding, ...]:
    """The submission in these bytes, or the findings on them. Never raises.

    With `now`, a campaign that ended in the future also counts as a finding. A build omits `now`,
    because the build's result must not depend on the day.
    """
    result = _judged(data)
    if not isinstance(result, Submission):
        return in_file(result, file)
    found = () if now is None else measured_in_future(result, now)
    return in_file(found, file) or result


def _judged(data: bytes) -> Submission | tuple[Finding, ...]:
    loaded = strict.load(data)
    document = loaded if isinstance(loaded, tuple) else migrated(loaded)
    if isinstance(document, tuple):
        return document
    found = schema_findings(document, SUBMISSION_SCHEMA)
    if found:
        return found
    submission = decode(Submission, document)
    return _rule_findings(submission) or submission


def value_findings(submission: Submission) -> tuple[Finding, ...]:
    """All faults that schema and rules find in a submission that is not serialised yet."""
    return schema_findings(encode(submission), SUBMISSION_SCHEMA) or _rule_findings(submission)


def document_findings(data: bytes, schema: str, *, file: str = "") -> tuple[Finding, ...]:
    """All faults in a document that is not a submission, by the schema named. Never raises."""
    document = strict.load(data)
    found = document if isinstance(document, tuple) else schema_findings(document, schema)
    return in_file(found, file)


def _rule_findings(submission: Submission) -> tuple[Finding, ...]:
    return bounded(
        Finding(path=path, message=message, rule=name)
        for name, rule in RULES.items()
        for path, message in rule(submission)
    )
