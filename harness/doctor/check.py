"""A line of the doctor's report: a finding, its status, and a remedy."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """A line of the doctor's report. `remedy` is what to do, unless `found` says it.

    `warn` means that the finding may distort or slow down a measurement, `fail` that it prevents
    a run.
    """

    name: str
    status: Literal["ok", "warn", "fail"]
    found: str
    remedy: str | None = None
