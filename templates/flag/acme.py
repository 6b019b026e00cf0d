"""A flag about machines of Acme."""

from estimates.flags.catalogue import Observation
from estimates.flags.evidence import FlagEvidence


def acme(evidence: FlagEvidence) -> Observation | None:
    """The notes name the maker."""
    notes = evidence.submission.notes or ""
    return Observation(notes=notes) if "Acme" in notes else None
