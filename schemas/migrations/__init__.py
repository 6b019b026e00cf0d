"""Bring a file of an older format to today's when it is read: one pure step per version.

Files are never rewritten: their bytes, names and digests stay. A new version of the format brings
its schema and a step from the version before, here in `STEPS`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from schemas.codec import Json, canonical_bytes, encode
from schemas.finding import Finding
from schemas.submission import Submission
from schemas.validator import accepts

Object = dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """From one version to the next: what an old document must be, and what becomes of it.

    `findings` judges by the frozen schema of the old version, so that a message names the fields
    that the file has. `migrate` must not change what it is given and must lose nothing:
    `back` makes the old document of the new one.
    """

    findings: Callable[[Object], tuple[Finding, ...]]
    migrate: Callable[[Object], Object]
    back: Callable[[Object], Object]


def adding(version: int) -> Step:
    """From this version to one that only adds what a file may state.

    An older file states none of it, and that stays so.
    """
    name = f"submission.v{version}"

    def findings(document: Object) -> tuple[Finding, ...]:
        if accepts(document, name):
            return ()
        from schemas.authority import schema_findings  # noqa: PLC0415 - slow to import; valid files need none

        return schema_findings(document, name)

    return Step(
        findings=findings,
        migrate=lambda old: {**old, "version": version + 1},
        back=lambda new: {**new, "version": version},
    )


# The version that a step leads away from.
STEPS: Mapping[int, Step] = {1: adding(1)}


def migrated(
    document: Json, steps: Mapping[int, Step] = STEPS, *, is_valid: bool = False
) -> Json | tuple[Finding, ...]:
    """The document in today's format, or what is wrong with it in its own. Never raises.

    What no step knows is left as it is, for today's schema to judge. One that `is_valid` is not
    judged again.
    """
    for _ in steps:  # at most one step per version: a step that goes nowhere ends too
        step = _step_of(document, steps)
        if step is None or not isinstance(document, dict):
            break
        found = () if is_valid else step.findings(document)
        if found:
            return found
        document = step.migrate(document)
    return document


def forms(submission: Submission) -> Iterator[bytes]:
    """The canonical bytes that a file of this content can have: in today's format, then in older.

    A file's name has a digest of its own bytes, whatever version they are.
    """
    document = cast("Object", encode(submission))
    yield canonical_bytes(document)
    for version in sorted(STEPS, reverse=True):
        document = STEPS[version].back(document)
        yield canonical_bytes(document)


def _step_of(document: Json, steps: Mapping[int, Step]) -> Step | None:
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, bool) or not isinstance(version, int):
        return None
    return steps.get(version)
