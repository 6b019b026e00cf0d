"""What happens in a run, from the options to the printed verdict? And in a dry one?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from estimates.report import to_json
from estimates.summary import summarize
from harness import cache, execute
from harness import output as results
from harness.cli import talk
from harness.detect.checkout import commit
from harness.detect.machine import machine
from harness.detect.watch import Watch
from harness.duration import expected, memory_bandwidth
from harness.errors import BadInputError
from harness.journal import fingerprint, set_aside
from harness.plan import plan
from harness.progress import ProgressDisplay
from harness.report import words
from harness.report.plan import lines as plan_lines
from harness.report.terminal import show
from schemas.codec import encode

if TYPE_CHECKING:
    from pathlib import Path

    from harness.campaign import Options
    from harness.cli.engine import ChosenEngine
    from harness.model import Campaign
    from harness.runners.base import Runner
    from schemas.codec import Json
    from schemas.submission import Submission

# The format's patterns of these two fields; checked before an hour of measuring, not after it.
_CONTRIBUTOR = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")
_NOTES = re.compile(r"[^\x00-\x1f<>]{1,280}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What the contributor says about themselves and the machine."""

    contributor: str | None = None
    notes: str | None = None

    def check(self) -> None:
        """Raise `BadInputError` when the format would not take it."""
        if self.contributor is not None and not _CONTRIBUTOR.fullmatch(self.contributor):
            message = f"--contributor {self.contributor!r}: letters, digits and inner hyphens only"
            raise BadInputError(message)
        if self.notes is not None and not _NOTES.fullmatch(self.notes):
            message = "--notes takes one line of at most 280 characters, without < and >"
            raise BadInputError(message)


def measure(  # noqa: PLR0913 - the options of the command that are not part of the campaign
    options: Options,
    about: Contribution,
    *,
    engine: ChosenEngine,
    output: Path | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Measure, write the result, print the report."""
    about.check()
    results.require_writable(output)
    runner = engine.runner(options)
    campaign = engine.campaign(options, fetch=True)
    work_file = _work_file(campaign, resume=resume)
    submission = _run(campaign, runner, work_file, resume=resume)
    submission = replace(submission, contributor=about.contributor, notes=about.notes)
    path = _keep(submission, output, work_file)
    summary = summarize(submission)
    if as_json:
        talk.print_json(to_json(summary))
    else:
        show(submission, summary, talk.result_console())
    talk.say(f"Result: {path}")
    if submission.design.ended == "interrupted":
        raise typer.Exit(talk.INTERRUPTED)


def dry_run(
    options: Options,
    about: Contribution,
    *,
    engine: ChosenEngine,
    output: Path | None,
    as_json: bool,
) -> None:
    """Print what would run, and for how long. It fetches nothing, and refuses what a run would."""
    about.check()
    results.require_writable(output)
    engine.runner(options)
    campaign = engine.campaign(options, fetch=False)
    document = _plan(campaign)
    if as_json:
        talk.print_json(document)
    else:
        _print_plan(campaign)


def _work_file(campaign: Campaign, *, resume: bool) -> Path:
    folder = cache.directory() / "work"
    with cache.usable():
        folder.mkdir(exist_ok=True)
        path = folder / f"{fingerprint(campaign)[:16]}.jsonl"
        if path.exists() and not resume:
            _begin_afresh(path)
    return path


def _begin_afresh(path: Path) -> None:
    kept = set_aside(path)
    if kept is not None:
        aside, trials = kept
        talk.say(
            f"An earlier run with these options stopped after {words.counted(trials, 'trial')}; "
            f"--resume would go on with it. This one starts afresh, the old one is kept as {aside}"
        )


def _run(campaign: Campaign, runner: Runner, work_file: Path, *, resume: bool) -> Submission:
    watch = Watch()
    surroundings = execute.Surroundings(machine=machine(), snapshot=watch.snapshot, commit=commit())
    with ProgressDisplay(talk.talk_console()) as display:
        return execute.measure(
            campaign,
            runner=runner,
            surroundings=surroundings,
            work_file=work_file,
            resume=resume,
            observe=display,
        )


def _keep(submission: Submission, destination: Path | None, work_file: Path) -> Path:
    path = results.write(submission, destination)
    match submission.design.ended:
        case "completed" | "precise-enough":
            work_file.unlink(missing_ok=True)
        case "budget-spent":
            talk.say("The time is spent; the same command with --resume and more --budget goes on.")
        case "interrupted":
            talk.say("The run was interrupted; the same command with --resume goes on with it.")
    return path


def _plan(campaign: Campaign) -> Json:
    estimate = expected(campaign, bytes_per_s=memory_bandwidth())
    return {
        "profile": campaign.profile,
        "target": encode(campaign.target.model),
        "drafts": [encode(draft.model) for draft in campaign.drafts],
        "arms": [encode(arm) for arm in campaign.arms],
        "suite": campaign.suite.id,
        "prompts": [prompt.id for prompt in campaign.suite.prompts],
        "settings": encode(campaign.settings),
        "blocks": campaign.blocks,
        "least_blocks": campaign.least_blocks,
        "stopping": encode(campaign.stopping),
        "expected_s": round(estimate.seconds, 1),
        "expected_least_s": round(estimate.least_seconds, 1),
        "expected_from": estimate.basis,
        "trials": [encode(trial) for trial in plan(campaign)],
    }


def _print_plan(campaign: Campaign) -> None:
    estimate = expected(campaign, bytes_per_s=memory_bandwidth())
    console = talk.result_console()
    for line in plan_lines(campaign, estimate):
        console.print(line)
