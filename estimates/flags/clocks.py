"""Raise the flag about a client's clock that whole requests contradict."""

import math

from estimates.client_clock import apart, only_requests
from estimates.flags.observation import FlagEvidence, Observation, only


def whole_requests_only(evidence: FlagEvidence) -> Observation | None:
    """The times of whole requests contradict the token times that the client saw."""
    submission = evidence.submission
    arms = [arm for arm in submission.arms if only_requests(submission, arm)]
    if not arms:
        return None
    names = [arm.id for arm in arms]
    found = [each for each in evidence.estimates if each.arm in names]
    known = any(each.whole_request is not None for each in found)
    factor = max(
        (math.exp(-apart(submission, arm)) for arm in arms), key=lambda x: abs(math.log(x))
    )
    return Observation(
        arms=names, factor=factor, arm=only(names), case="known" if known else "unknown"
    )
