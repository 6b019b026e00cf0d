"""What does the command line of `run` ask for? Checked as far as that needs no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness import output as results
from harness.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from harness.campaign import Options
    from harness.cli.legs import Leg
    from harness.model import Campaign

# The format's patterns of these two fields; checked before an hour of measuring, not after it.
_CONTRIBUTOR = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
_NOTES = re.compile(r"[^\x00-\x1f<>]{1,280}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What the contributor says about themselves and the machine."""

    contributor: str | None = None
    notes: str | None = None

    def check(self) -> None:
        """Raise `UsageError` when the format would not take it."""
        if self.contributor is not None and not _CONTRIBUTOR.fullmatch(self.contributor):
            message = f"--contributor {self.contributor!r}: letters, digits and inner hyphens only"
            raise UsageError(message)
        if self.notes is not None and not _NOTES.fullmatch(self.notes):
            message = "--notes takes one line of at most 280 characters, without < and >"
            raise UsageError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the command line asks for: a campaign, and the engines that run it."""

    options: Options
    about: Contribution
    legs: tuple[Leg, ...]
    output: Path | None = None
    as_json: bool = False

    def check(self) -> None:
        """Raise `HarnessError` for what can be told before any model is looked at."""
        self.about.check()
        self.legs[0].engine.require_suited(self.options)
        if len(self.legs) > 1:
            results.require_directory(self.output)
        results.require_writable(self.output)

    def campaigns(self, *, fetch: bool) -> dict[str, Campaign]:
        """The campaign on each of the engines. Raises `HarnessError` when one cannot run it."""
        first = self.legs[0].engine.campaign(self.options, fetch=fetch)
        return {leg.name: leg.engine.on(first) for leg in self.legs}
