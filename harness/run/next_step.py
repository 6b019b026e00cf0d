"""Suggest the next command, with its duration, after an incomplete or inconclusive run."""

import math
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from harness import PROGRAM
from harness.campaign.builder import profile
from harness.campaign.model import Campaign
from harness.machine.command_line import pasted
from harness.report import words
from harness.report.expected_time import ExpectedTime
from harness.report.setting_results import settings
from harness.run.engine_run import MeasuredEngine
from harness.run.request import RunRequest
from harness.run.time_limit import in_turns
from schemas.vocabulary.flags import FLAGS

_LONG_S = 600.0  # a run that takes longer than this comes with a shorter form
RESUME, _QUICK = "--resume", "--quick"
# Words of a command that plans or checks a run.
_OTHERWISE = ("run", "doctor", "--dry-run", "--json")
OUTPUT = ("--output", "-o")


def after(request: RunRequest, measured: MeasuredEngine) -> str | None:
    """Return the next command and its duration; `None` if the result is conclusive."""
    submission = measured.submission
    design, done = submission.design, len(submission.trials)
    began, ended = map(
        datetime.fromisoformat, (submission.measured_from, submission.measured_until)
    )
    spent_s = (ended - began).total_seconds()
    left_s = spent_s * (design.planned_trials - done) / max(1, done)
    best = next(iter(settings(submission, measured.summary)), None)
    if design.ended in ("interrupted", "budget-spent"):
        budget_min = math.ceil(((design.budget_s or 0) + left_s) / 60)
        more = ("--budget", str(budget_min)) if design.ended == "budget-spent" else ()
        return _said(resume_command(RESUME, *more), left_s)
    if best is None or best.answer != "unknown":
        return None
    flag = FLAGS.get(best.whole.doubt or "")
    if flag is not None and not flag.passes:  # the next run would raise it, too
        return None
    if best.whole.verdict == "uncertain":  # more measurements do not remove a doubt
        return _said(resume_command(), spent_s)
    if not request.options.quick:
        return _said(resume_command("--blocks", str(2 * design.blocks)), 2 * spent_s)
    whole = replace(request, options=replace(request.options, quick=False))
    campaigns = (
        each.campaigns(fetch=False, say=list[str]().append).values() for each in (whole, request)
    )
    longer = [sum(map(_tokens, runs)) for runs in campaigns]
    return _said(resume_command(without=_QUICK), spent_s * longer[0] / longer[1])


def first_look(request: RunRequest, expected: ExpectedTime | None) -> str | None:
    """Return the command of a first look with its duration, before a long run with the defaults."""
    options = request.options
    usual = profile(options) == "default" and not request.result.resume
    if expected is None or expected.seconds < _LONG_S or not usual:
        return None
    short = replace(request, options=replace(options, quick=True))
    look = in_turns([*short.campaigns(fetch=False, say=list[str]().append).values()])
    if look is None:
        return None
    given = given_words(sys.argv[1:], alone=_OTHERWISE, valued=())
    shown = pasted([*PROGRAM.split(), "run", *given, _QUICK])
    return f"A first look takes about {words.seconds(look.seconds)}: {shown}"


def resume_command(*more: str, without: str = "") -> str:
    """Return the current command line with `more` options, and without the switch `without`.

    A command that does not resume must not overwrite earlier results, so it names no output.
    """
    valued = [] if RESUME in more else [*OUTPUT]
    valued += [word for word in more if word.startswith("--") and word != RESUME]
    given = given_words(sys.argv[1:], alone={RESUME, without}, valued=valued)
    return pasted([*PROGRAM.split(), *given, *more])


def given_words(
    words: Sequence[str], *, alone: Collection[str], valued: Collection[str]
) -> Iterator[str]:
    """Yield a command's words without certain options: switches in `alone`, others in `valued`.

    The value after a `valued` option is left out too.
    """
    given = iter(words)
    for word in given:
        if word in valued:
            next(given, None)
        elif word not in alone and word.partition("=")[0] not in valued:
            yield word


def _said(command: str, seconds: float) -> str:
    return f"Next, about {words.seconds(seconds)}: {command}"


def _tokens(campaign: Campaign) -> int:
    """Return the maximum number of tokens that a campaign's arms may write."""
    trials = len(campaign.arms) * len(campaign.suite.prompts) * campaign.blocks
    return trials * campaign.settings.max_output_tokens
