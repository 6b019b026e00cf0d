"""A line of the doctor's report: a finding, its status, and a remedy."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A line of the doctor's report. `remedy` is set unless the check passed."""

    name: str
    status: Status
    found: str
    remedy: str | None = None


def ok(name: str, found: str) -> Check:
    return Check(name=name, status="ok", found=found)


def warn(name: str, found: str, remedy: str) -> Check:
    """Return a check whose finding may distort or slow down a measurement."""
    return Check(name=name, status="warn", found=found, remedy=remedy)


def fail(name: str, found: str, remedy: str) -> Check:
    """Return a check whose finding prevents a run."""
    return Check(name=name, status="fail", found=found, remedy=remedy)
