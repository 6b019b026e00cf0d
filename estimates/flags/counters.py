"""Does the engine count its drafts in one way?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from estimates.flags.evidence import counted, listed, only
from estimates.model import Flag

if TYPE_CHECKING:
    from estimates.flags.evidence import Evidence
    from schemas.submission import Trial


def counters_disagree(evidence: Evidence) -> Flag | None:
    """The server's metrics page counted other drafts than its answers did.

    The figures stand on the answers. Where these leave rounds out, acceptance and round costs are
    wrong; the speedup is not, since it comes from tokens and times.
    """
    apart = [trial for trial in evidence.submission.trials if _disagrees(trial)]
    if not apart:
        return None
    arms = list(dict.fromkeys(trial.arm for trial in apart))
    by_answer = sum(trial.drafted or 0 for trial in apart)
    by_page = sum(trial.metrics_drafted or 0 for trial in apart)
    return Flag(
        name="counters-disagree",
        severity="caution",
        message=(
            f"In {counted(len(apart), 'trial')} of {listed(arms)} the server's answers and its "
            f"metrics page disagree about drafts: {by_answer} and {by_page} tokens drafted."
        ),
        remedy=(
            "Trust the speedup, not acceptance and round costs; make sure that nobody else asks "
            "this server, and try another build of it."
        ),
        arm=only(arms),
        prompt=apart[0].prompt,
    )


def _disagrees(trial: Trial) -> bool:
    pairs = ((trial.drafted, trial.metrics_drafted), (trial.accepted, trial.metrics_accepted))
    return any(page is not None and page != answer for answer, page in pairs)
