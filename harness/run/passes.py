"""Give planned trials to a session: one after another, or several in flight at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from harness.campaign.model import Campaign, PlannedTrial
from harness.errors import BadInputError
from harness.run import events
from harness.run.events import Observer
from harness.runners.base import ConcurrentSession, Failure, Generation, Session, TrialRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A planned trial and its result. `started_ms` is set if others were in flight."""

    trial: PlannedTrial
    result: Generation | Failure
    started_ms: float | None = None


class Passes:
    """Gives the trials of a campaign to a session. `skip(arm)` is asked before each trial."""

    def __init__(
        self,
        campaign: Campaign,
        session: Session,
        *,
        skip: Callable[[str], bool],
        observe: Observer,
    ) -> None:
        self._output_tokens = campaign.settings.max_output_tokens
        self._concurrency = {arm.id: arm.concurrency for arm in campaign.arms}
        self._session = session
        self._skip = skip
        self._observe = observe

    def run(self, trials: Iterable[PlannedTrial]) -> Iterator[Answered]:
        """Every trial with its result, as soon as it is there.

        Raises `BadInputError` when several requests at once are planned and the session answers one
        at a time.
        """
        for arm, turn in groupby(trials, key=lambda trial: trial.arm):
            concurrency = self._concurrency[arm]
            if concurrency == 1:
                yield from self._in_turn(turn)
            else:
                yield from self._in_flight(arm, tuple(turn), concurrency)

    def _in_turn(self, trials: Iterable[PlannedTrial]) -> Iterator[Answered]:
        for trial in trials:
            if not self._skip(trial.arm):
                self._observe(events.TrialStarted(trial=trial))
                result = self._session.generate(self._request(trial))
                yield Answered(trial=trial, result=result)

    def _in_flight(
        self, arm: str, trials: tuple[PlannedTrial, ...], concurrency: int
    ) -> Iterator[Answered]:
        if not isinstance(self._session, ConcurrentSession):
            message = f"{arm}: this runner answers one request at a time; leave out --concurrency"
            raise BadInputError(message)
        if self._skip(arm):
            return
        self._observe(events.TrialStarted(trial=trials[0]))
        trial_of = {self._request(trial): trial for trial in trials}
        for done in self._session.generate_together(tuple(trial_of), concurrency):
            yield Answered(
                trial=trial_of[done.request], result=done.result, started_ms=done.started_ms
            )

    def _request(self, trial: PlannedTrial) -> TrialRequest:
        return TrialRequest(
            arm=trial.arm,
            prompt=trial.prompt,
            max_output_tokens=self._output_tokens,
            block=trial.block,
        )
