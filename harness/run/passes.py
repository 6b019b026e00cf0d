"""Give planned trials to a session: one after another, or several in flight at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from harness.campaign.model import Campaign, PlannedTrial
from harness.errors import BadInputError
from harness.report import events
from harness.runners.base import ConcurrentSession, Failure, Generation, Session, TrialRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """A planned trial and its result.

    `started_ms` is set if other requests were in flight at the same time.
    """

    trial: PlannedTrial
    result: Generation | Failure
    started_ms: float | None = None


def answers(
    trials: Iterable[PlannedTrial],
    campaign: Campaign,
    session: Session,
    *,
    skip: Callable[[str], bool],
    observe: events.Observer,
) -> Iterator[TrialOutcome]:
    """Yield every trial with its result as soon as it ends, except trials of arms to `skip`.

    Raises `BadInputError` if concurrent requests are planned but the session answers a single
    request at a time.
    """
    levels = {arm.id: arm.concurrency for arm in campaign.arms}
    limit = campaign.settings.max_output_tokens
    for arm, turn in groupby(trials, key=lambda trial: trial.arm):
        asked = {
            TrialRequest(arm=arm, prompt=t.prompt, max_output_tokens=limit, block=t.block): t
            for t in turn
        }
        if levels[arm] == 1:
            for request, trial in asked.items():
                if not skip(arm):
                    observe(events.TrialStarted(trial=trial))
                    yield TrialOutcome(trial=trial, result=session.generate(request))
        elif not isinstance(session, ConcurrentSession):
            raise BadInputError(
                f"{arm}: this runner answers one request at a time; leave out --concurrency"
            )
        elif not skip(arm):
            observe(events.TrialStarted(trial=next(iter(asked.values()))))
            for done in session.generate_concurrently(tuple(asked), levels[arm]):
                trial, started_ms = asked[done.request], done.started_ms
                yield TrialOutcome(trial=trial, result=done.result, started_ms=started_ms)
