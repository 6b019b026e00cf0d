"""Flags about the contents of names and notes."""

from estimates.flags.observation import FlagEvidence, Observation
from schemas import private


def private_data(evidence: FlagEvidence) -> Observation | None:
    """A name or note may identify a person or a machine."""
    found = {
        kind: path
        for path, text in private.texts(evidence.submission)
        if (kind := private.personal(text, path))
    }
    places = [f"{kind} at {path}" for kind, path in found.items()]
    return Observation(places=places) if places else None


def name_letters(evidence: FlagEvidence) -> Observation | None:
    """A name has other letters than A to Z, which may look like these."""
    odd = [path for path, _ in private.odd_names(evidence.submission)]
    return Observation(places=odd) if odd else None
