"""Give planned trials to a session: one after another, or several in flight at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from harness.campaign.model import Campaign, PlannedTrial
from harness.errors import BadInputError
from harness.machine import nvidia
from harness.report import events
from harness.runners.base import ConcurrentSession, Failure, Generation, Session, TrialRequest


def answers(
    trials: Iterable[PlannedTrial],
    campaign: Campaign,
    session: Session,
    *,
    skip: Callable[[str], bool],
    observe: events.Observer,
) -> Iterator[tuple[PlannedTrial, Generation | Failure, float | None]]:
    """Yield every trial with its result as soon as it ends, except trials of arms to `skip`.

    The third value, the trial's `started_ms`, is set if other requests were in flight at the same
    time. Raises `BadInputError` if concurrent requests are planned but the session answers a single
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
                    yield trial, _metered(session, request), None
        elif not isinstance(session, ConcurrentSession):
            raise BadInputError(
                f"{arm}: this runner answers one request at a time; leave out --concurrency"
            )
        elif not skip(arm):
            observe(events.TrialStarted(trial=next(iter(asked.values()))))
            for done in session.generate_concurrently(tuple(asked), levels[arm]):
                yield asked[done.request], done.result, done.started_ms


def _metered(session: Session, request: TrialRequest) -> Generation | Failure:
    """Run one generation, and add the energy that the GPUs drew meanwhile, if it is counted."""
    before_j = nvidia.used_j()
    result = session.generate(request)
    after_j = nvidia.used_j()
    if isinstance(result, Failure) or before_j is None or after_j is None:
        return result
    return replace(result, energy_j=after_j - before_j)
