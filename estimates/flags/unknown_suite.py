"""A flag about prompts that belong to no released suite, and the list of released suites."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources

from estimates.flags.catalogue import Observation
from estimates.flags.evidence import FlagEvidence


def unknown_suite(evidence: FlagEvidence) -> Observation | None:
    """The prompts match no released suite."""
    submission = evidence.submission
    suite = submission.suite
    if submission.tier != "measured" or suite.sha256 is None:
        return None
    released = suites().get(suite.id)
    if released is None:
        return Observation(case="own", suite=suite.id)
    return (
        None if suite.sha256 in released.values() else Observation(case="changed", suite=suite.id)
    )


@cache
def suites() -> Mapping[str, Mapping[str, str]]:
    """Released suites from `schemas/suites.json`: for each name, the digest of every version."""
    text = resources.files("schemas").joinpath("suites.json").read_text("utf-8")
    known: Mapping[str, Mapping[str, str]] = json.loads(text)["suites"]
    return known
