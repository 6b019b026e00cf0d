"""Interleave the runs of several engines, pass by pass or answer by answer."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from types import MappingProxyType

import psutil

from harness.campaign.model import Campaign
from harness.errors import HarnessError, NothingMeasuredError
from harness.run.execute import EndEarlyError
from harness.run.stopping import Early
from schemas.submission import Machine, Submission

EngineRun = Generator[int, None, Submission]
Orders = Mapping[int, Sequence[str]]
# Returns the reason to stop every run at the position that all have reached, or `None`.
JointStop = Callable[[int], Early | None]


class NotStartedError(NothingMeasuredError):
    """A run was interrupted before its first measurement."""


def interleave(
    runs: Mapping[str, EngineRun],
    orders: Orders = MappingProxyType({}),
    *,
    needs_all: bool = False,
    stop: JointStop = lambda _position: None,
) -> dict[str, Submission | HarnessError]:
    """Interleave the runs of several engines; return each run's result or error.

    After an error the other runs continue, unless `needs_all` is set or the error is a
    `NothingMeasuredError`. For each position in the plan, `orders` has the order in which the
    engines run; a run that is behind continues alone until it has caught up. Ctrl-C ends all runs:
    the active run immediately, the others in their pause. `stop` is called whenever all runs are at
    the same position.
    """
    positions = dict.fromkeys(runs, 0)
    ended: dict[str, Submission | HarnessError] = {}
    interrupted = False
    while positions:
        position = min(positions.values())
        level = [name for name in orders.get(position, runs) if positions.get(name) == position]
        early = stop(position) if len(level) == len(positions) else None
        for name in level:
            outcome = _step(runs[name], interrupted=interrupted, early=early)
            if isinstance(outcome, int):
                positions[name] = outcome
                continue
            ended[name] = outcome
            del positions[name]
            if isinstance(outcome, HarnessError):
                interrupted |= needs_all or isinstance(outcome, NothingMeasuredError)
            else:
                interrupted |= outcome.design.ended == "interrupted"
    return {name: ended[name] for name in runs}


def all_fit(campaigns: Iterable[Campaign], machine: Machine) -> bool:
    """Whether all models fit into half of the free main memory; false on a machine with a GPU."""
    files = [path for campaign in campaigns for path in campaign.files().values()]
    free = psutil.virtual_memory().available
    return not machine.gpus and 2 * sum(path.stat().st_size for path in files) < free


def _step(
    run: EngineRun, *, interrupted: bool, early: Early | None
) -> Submission | HarnessError | int:
    """Measure up to the next pause; return the run's outcome, or the position of its next trial."""
    try:
        if interrupted:
            return run.throw(KeyboardInterrupt)
        return run.throw(EndEarlyError(early)) if early else next(run)
    except StopIteration as end:
        submission: Submission = end.value
        return submission
    except HarnessError as error:
        return error
    except KeyboardInterrupt:
        return NotStartedError("interrupted before it started")
