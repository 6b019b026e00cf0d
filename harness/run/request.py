"""The options of one `draftmap run`, checked before measuring starts."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from harness import console
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.options import Option, offered, option
from harness.record.kept import keep
from harness.run import journal, preflight
from harness.run import result_file as results
from harness.run.chosen_engine import ChosenEngine
from schemas import private, strict
from schemas.submission import Submission

_RESULT = "Result"

# The file format's patterns for two fields, checked before an hour of measuring instead of after.
_CONTRIBUTOR = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
_NOTES = re.compile(r"[^\x00-\x1f\ud800-\udfff]{1,280}")

CONTRIBUTOR = Option(
    "Your GitHub user name, if it should be in the file.", metavar="NAME", panel=_RESULT
)
JSON = Option("Print the result as JSON.", panel=_RESULT, usual=True)


def check_contributor(name: str | None) -> None:
    """Raise `BadInputError` if the file format would not accept a contributor's name."""
    if name is not None and not _CONTRIBUTOR.fullmatch(name):
        raise BadInputError(f"--contributor {name!r}: letters, digits and inner hyphens only")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOptions:
    """Options for the result: dry run or measurement, output path, contributor and notes."""

    resume: bool = option(
        "Continue an interrupted run; repeat its other options.",
        panel="How it runs",
        default=False,
    )
    dry_run: bool = option(
        "Print the plan and its expected duration, without measuring.",
        panel="How it runs",
        default=False,
        usual=True,
    )
    output: Path | None = option(
        "A file (NAME.json) or a folder for the result. Default: the current folder.",
        short="-o",
        metavar="PATH",
        panel=_RESULT,
        usual=True,
    )
    json: bool = offered(JSON, default=False)
    contributor: str | None = offered(CONTRIBUTOR)
    notes: str | None = option(
        "One line about the machine, such as its cooling or an undervolt.",
        metavar="TEXT",
        panel=_RESULT,
    )

    def check(self) -> None:
        """Raise `BadInputError` if the format would not accept the contributor's name or notes."""
        check_contributor(self.contributor)
        if self.notes is not None and not _NOTES.fullmatch(self.notes):
            raise BadInputError("--notes takes one line of at most 280 characters, in UTF-8")

        refused = strict.load(json.dumps({"notes": self.notes}).encode())
        if isinstance(refused, tuple):
            raise BadInputError(f"--notes {refused[0].message}")
        if found := private.found(self.notes or ""):
            raise BadInputError(
                f"--notes contains {found}, and a result is public forever: leave it out"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    options: Options
    engines: tuple[ChosenEngine, ...]
    result: ResultOptions = ResultOptions()

    def check(self) -> None:
        """Raise `HarnessError` for options that are invalid whatever the model."""
        self.result.check()
        self.engines[0].require_suited(self.options)
        if len(self.engines) > 1:
            results.require_directory(self.result.output)
        results.require_writable(self.result.output)
        if not self.result.resume:  # a resumed run rewrites its result with more trials
            results.require_free(self.result.output)

    def write(self, submission: Submission) -> Path:
        """Write the result file, then record the measurements for `plan`."""
        given = self.result
        named = replace(submission, contributor=given.contributor, notes=given.notes)
        path = results.write(named, given.output)
        keep(submission)
        return path

    def campaigns(
        self, *, fetch: bool, say: Callable[[str], None] = console.say
    ) -> dict[str, Campaign]:
        """Return the campaign on each engine, and print what to know before it runs.

        Raises `HarnessError` if an engine cannot run it.
        """
        first = self.engines[0].campaign(self.options, fetch=fetch, say=say)
        # All engines measure the same arms: of the default arms, those that every engine supports.
        for each in self.engines[1:] if not self.options.methods else ():
            first = each.known(first)
        found = {each.name: each.on(first) for each in self.engines}
        begun = any(journal.path_of(each).is_file() for each in found.values())
        if self.result.resume and not begun:
            raise BadInputError(
                "there is no run with these options to continue; leave out --resume"
            )
        lines = [line for each in self.engines for line in preflight.ready(each, found[each.name])]
        for line in dict.fromkeys(lines):
            say(line)
        return found
