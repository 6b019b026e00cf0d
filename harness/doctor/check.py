"""One line of the doctor's report: what was found, whether it is good enough, and what to do."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor's report. `remedy` is there unless all is well."""

    name: str
    status: Status
    found: str
    remedy: str | None = None


def ok(name: str, found: str) -> Check:
    """A check that found nothing to worry about."""
    return Check(name=name, status="ok", found=found)


def warn(name: str, found: str, remedy: str) -> Check:
    """A check that found what may distort figures or slow things down."""
    return Check(name=name, status="warn", found=found, remedy=remedy)


def fail(name: str, found: str, remedy: str) -> Check:
    """A check that found what keeps a run from working."""
    return Check(name=name, status="fail", found=found, remedy=remedy)
