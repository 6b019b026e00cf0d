"""Bring a file of an older format to today's when it is read: one pure step per version.

Files are never rewritten: their bytes, names and digests stay. A new version of the format brings
its schema, a module here with the step from the version before, and a line in `STEPS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schemas.codec import Json
from schemas.finding import Finding

Object = dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """From one version to the next: what an old document must be, and what becomes of it.

    `findings` judges by the frozen schema of the old version, so that a message names the fields
    that the file has. `migrate` must not change what it is given and must lose nothing.
    """

    findings: Callable[[Object], tuple[Finding, ...]]
    migrate: Callable[[Object], Object]


# The version that a step leads away from. Version 1 is today's, and there is none before it.
STEPS: Mapping[int, Step] = {}


def migrated(document: Json, steps: Mapping[int, Step] = STEPS) -> Json | tuple[Finding, ...]:
    """The document in today's format, or what is wrong with it in its own. Never raises.

    What no step knows is left as it is, for today's schema to judge.
    """
    for _ in steps:  # at most one step per version: a step that goes nowhere ends too
        step = _step_of(document, steps)
        if step is None or not isinstance(document, dict):
            break
        found = step.findings(document)
        if found:
            return found
        document = step.migrate(document)
    return document


def _step_of(document: Json, steps: Mapping[int, Step]) -> Step | None:
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, bool) or not isinstance(version, int):
        return None
    return steps.get(version)
