"""What happens in a run, from the options to the printed verdict?"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import typer

from estimates.model import Summary
from estimates.summary import summarize, to_json
from harness import files
from harness.campaign.model import Campaign
from harness.cli import console
from harness.cli.engine import Wanted
from harness.errors import INTERRUPTED, HarnessError
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.machine.versions import commit
from harness.report import engines
from harness.report.terminal import show
from harness.run import execute
from harness.run import result_file as results
from harness.run.journal import fingerprint, set_aside
from harness.run.progress import ProgressDisplay
from harness.run.turns import NotBegunError, in_turn
from harness.runners.base import Runner
from schemas.submission import Submission
from schemas.vocabulary import say


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A measured leg, and where its file lies."""

    submission: Submission
    summary: Summary
    path: Path


def measure(wanted: Wanted, *, resume: bool) -> None:
    """Measure, write a result for each engine, print the reports."""
    wanted.check()
    if not resume:  # which writes the same result anew, with more in it
        results.require_free(wanted.output)
    runs = _runs(wanted, resume=resume)
    with ProgressDisplay(console.talk_console()) as display:
        ended = in_turn({name: run.by_blocks(display) for name, run in runs.items()})
    kept: dict[str, _Kept] = {}
    for name, outcome in ended.items():
        if not isinstance(outcome, HarnessError):
            kept[name] = runs[name].keep(outcome)
        elif isinstance(outcome, NotBegunError) and len(ended) == 1:
            raise KeyboardInterrupt
        elif len(ended) == 1:
            raise outcome
        else:
            console.say(f"Error: {name}: {outcome}")
    failed = {name: str(each) for name, each in ended.items() if isinstance(each, HarnessError)}
    _tell(kept, failed, as_json=wanted.as_json)
    _end(kept, ended)


def _runs(wanted: Wanted, *, resume: bool) -> dict[str, _Run]:
    runners = {leg.name: leg.engine.runner() for leg in wanted.legs}
    return {
        name: _Run(wanted, name, campaign, runner=runners[name], resume=resume)
        for name, campaign in wanted.campaigns(fetch=True).items()
    }


def _end(kept: Mapping[str, _Kept], ended: Mapping[str, object]) -> None:
    if any(each.submission.design.ended == "interrupted" for each in kept.values()):
        raise typer.Exit(INTERRUPTED)
    codes = [each.exit_code for each in ended.values() if isinstance(each, HarnessError)]
    if codes:
        raise typer.Exit(codes[0])


def _tell(kept: Mapping[str, _Kept], failed: Mapping[str, str], *, as_json: bool) -> None:
    """The results for people, or for machines: one summary, or one for each engine."""
    if as_json:
        summaries = {name: to_json(each.summary) for name, each in kept.items()}
        console.print_json(summaries.get("", {"engines": summaries}))
    else:
        screen = console.result_console()
        for name, each in kept.items():
            if name:
                screen.rule(name, align="left")
            show(each.submission, each.summary, screen)
        if len(kept) + len(failed) > 1 and kept:
            screen.rule()
            compared = {name: (each.submission, each.summary) for name, each in kept.items()}
            for line in engines.lines(compared, failed):
                screen.print(line, soft_wrap=True, markup=False)
    for each in kept.values():
        console.say(f"Result: {each.path}")


class _Run:
    """The campaign on one engine, with a work file of its own."""

    def __init__(
        self, wanted: Wanted, name: str, campaign: Campaign, *, runner: Runner, resume: bool
    ) -> None:
        self._wanted = wanted
        self._name = name
        self._campaign = campaign
        self._runner = runner
        self._resume = resume
        self._work_file = _work_file(campaign, resume=resume)

    def by_blocks(self, display: ProgressDisplay) -> Generator[None, None, Submission]:
        """Measure, with a pause after every block."""
        watch = Watch()
        return execute.by_blocks(
            self._campaign,
            runner=self._runner,
            surroundings=execute.Surroundings(
                machine=machine(), snapshot=watch.snapshot, commit=commit()
            ),
            work_file=self._work_file,
            resume=self._resume,
            observe=partial(display, name=self._name),
        )

    def keep(self, submission: Submission) -> _Kept:
        """Write the result; the work file is needed only where the run can go on."""
        about = self._wanted.about
        submission = replace(submission, contributor=about.contributor, notes=about.notes)
        path = results.write(submission, self._wanted.output)
        match submission.design.ended:
            case "completed" | "precise-enough":
                self._work_file.unlink(missing_ok=True)
            case "budget-spent":
                console.say(
                    "The time is spent; the same command with --resume and more --budget goes on."
                )
            case "interrupted":
                console.say(
                    "The run was interrupted; the same command with --resume goes on with it."
                )
        return _Kept(submission=submission, summary=summarize(submission), path=path)


def _work_file(campaign: Campaign, *, resume: bool) -> Path:
    folder = files.directory() / "work"
    with files.usable():
        folder.mkdir(exist_ok=True)
        path = folder / f"{fingerprint(campaign)[:16]}.jsonl"
        if path.exists() and not resume:
            _begin_afresh(path)
    return path


def _begin_afresh(path: Path) -> None:
    kept = set_aside(path)
    if kept is not None:
        aside, trials = kept
        console.say(
            f"An earlier run with these options stopped after {say.count(trials, 'trial')}; "
            f"--resume would go on with it. This one starts afresh, the old one is kept as {aside}"
        )
