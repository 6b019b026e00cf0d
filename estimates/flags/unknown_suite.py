"""A flag about prompts that belong to no released suite, and the list of released suites."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources

from estimates.flags.catalogue import Observation
from estimates.flags.evidence import FlagEvidence


def unknown_suite(evidence: FlagEvidence) -> Observation | None:
    """The prompts match no released suite."""
    suite, released = evidence.submission.suite, suites().get(evidence.submission.suite.id)
    known = released is not None and suite.sha256 in released.values()
    if evidence.submission.tier != "measured" or suite.sha256 is None or known:
        return None
    return Observation(case="own" if released is None else "changed", suite=suite.id)


@cache
def suites() -> Mapping[str, Mapping[str, str]]:
    """Released suites from `schemas/suites.json`: for each name, the digest of every version."""
    text = resources.files("schemas").joinpath("suites.json").read_text("utf-8")
    known: Mapping[str, Mapping[str, str]] = json.loads(text)["suites"]
    return known
