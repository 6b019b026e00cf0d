"""Name the command that comes next where a run ends without an answer, and its minutes."""

import math
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from harness import PROGRAM
from harness.campaign.arms import takes_draft
from harness.campaign.methods import as_text
from harness.campaign.model import Campaign
from harness.cli.engine_run import MeasuredEngine
from harness.cli.options import option_names
from harness.cli.request import RunRequest
from harness.machine.command_line import pasted
from harness.report import words
from harness.report.setting import settings
from harness.tune.search import SearchOptions
from schemas.method import Method

_RESUME, _QUICK = "--resume", "--quick"
_OUTPUT = ("--output", "-o")


def after(request: RunRequest, measured: MeasuredEngine) -> str | None:
    """What to run next, and for how long; `None` where the result is an answer."""
    submission = measured.submission
    design, done = submission.design, len(submission.trials)
    began, ended = map(
        datetime.fromisoformat, (submission.measured_from, submission.measured_until)
    )
    spent_s = (ended - began).total_seconds()
    left_s = spent_s * (design.planned_trials - done) / max(1, done)
    best = next(iter(settings(submission, measured.summary)), None)
    if design.ended == "interrupted":
        return _said(again(_RESUME), left_s)
    if design.ended == "budget-spent":
        budget_min = math.ceil(((design.budget_s or 0) + left_s) / 60)
        return _said(again(_RESUME, "--budget", str(budget_min)), left_s)
    if best is None or best.answer != "unknown":
        return None
    if best.whole.verdict == "uncertain":  # a doubt, which more of the same does not remove
        return _said(again(), spent_s)
    if not request.options.quick:
        return _said(again("--blocks", str(2 * design.blocks)), 2 * spent_s)
    whole = replace(request, options=replace(request.options, quick=False))
    campaigns = (each.campaigns(fetch=False).values() for each in (whole, request))
    longer = [sum(map(_tokens, each)) for each in campaigns]
    return _said(again(without=_QUICK), spent_s * longer[0] / longer[1])


def again(*more: str, without: str = "") -> str:
    """The command line of this run with `more` options, and without the switch `without`.

    A command that does not resume leaves its result alone, so that it names no output.
    """
    valued = () if _RESUME in more else _OUTPUT
    given = _given(sys.argv[1:], alone={_RESUME, without}, valued=valued)
    return pasted([*PROGRAM.split(), *given, *more])


def as_run(method: Method) -> str:
    """The `run` that measures one method of a tune again."""
    valued = (*_OUTPUT, "--method", *option_names(SearchOptions))
    valued += () if takes_draft(method) else ("--draft", "-md")
    given = _given(sys.argv[2:], alone={_RESUME}, valued=valued)
    return pasted([*PROGRAM.split(), "run", *given, "--method", as_text(method)])


def _given(words: Sequence[str], *, alone: Collection[str], valued: Sequence[str]) -> Iterator[str]:
    """The words without these options: `alone` are switches, `valued` take a value."""
    given = iter(words)
    for word in given:
        if word in valued:
            next(given, None)
        elif word not in alone and word.partition("=")[0] not in valued:
            yield word


def _said(command: str, seconds: float) -> str:
    return f"Next, about {words.seconds(seconds)}: {command}"


def _tokens(campaign: Campaign) -> int:
    """The tokens that a campaign lets its arms write."""
    trials = len(campaign.arms) * len(campaign.suite.prompts) * campaign.blocks
    return trials * campaign.settings.max_output_tokens
