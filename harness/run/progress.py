"""How far is the campaign? A bar with arm, prompt, tokens/s and the time left.

A log gets a line after each tenth instead: what runs for an hour must not look dead there.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self, assert_never

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from harness.report.words import seconds
from harness.run.events import (
    ArmFailed,
    Event,
    Extended,
    Finished,
    Loading,
    Planned,
    Probing,
    TrialEnded,
    TrialStarted,
    WarmingUp,
)
from harness.runners.base import Failure
from schemas.vocabulary import say


class ProgressDisplay:
    """An observer that draws on a console; on anything but a terminal it writes a few lines."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}
        self._told: set[str] = set()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def __call__(self, event: Event, *, name: str = "") -> None:
        """Show what happened to the campaign `name`; each has a bar of its own."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(f"{name} starting", total=None, rate="")
        task, update = self._tasks[name], self._progress.update
        said = f"{name}: " if name else ""
        match event:
            case Planned():
                update(task, total=event.total, completed=event.done)
            case Extended():
                update(task, total=event.total, description=said + _why_longer(event))
            case ArmFailed():
                self._tell(f"{said}{event.arm} cannot run: {_why(event.failure)}")
            case TrialEnded():
                update(task, advance=1, rate=_rate(event))
                self._log(self._progress.tasks[task], said)
                if event.failure is not None:
                    self._tell(f"{said}{event.trial.arm} failed: {_why(event.failure)}")
            case _:
                update(task, description=said + _what(event))

    def _log(self, task: Task, said: str) -> None:
        """After each tenth of the trials, a line for whoever sees no bar."""
        if self._progress.disable and task.total:
            tenths = int(10 * task.completed / task.total)
            if tenths > int(10 * (task.completed - 1) / task.total):
                done = f"{said}{task.completed:.0f} of {task.total:.0f} trials"
                left = task.time_remaining
                self._tell(f"{done}, about {seconds(left)} left" if left else done)

    def _tell(self, text: str) -> None:
        """A line that stays, each one once: twenty trials may fail for one reason."""
        if text not in self._told:
            self._told.add(text)
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _why(failure: Failure) -> str:
    return f"{failure.detail} [{failure.reason}]"


def _what(event: Loading | WarmingUp | Probing | TrialStarted | Finished) -> str:
    match event:
        case Loading():
            return f"Loading {event.what}"
        case WarmingUp():
            return f"Warming up {event.arm}"
        case Probing():
            return "Measuring costs of single steps"
        case TrialStarted():
            return f"{event.trial.arm} · {event.trial.prompt}"
        case Finished():
            return "Done"
        case _:
            assert_never(event)


def _why_longer(event: Extended) -> str:
    if event.half_width is None:
        return "One more block"
    return f"Still ±{say.percent(event.half_width, 1)}, one more block"


def _rate(event: TrialEnded) -> str:
    if event.failure is not None:
        return f"failed: {event.failure.reason}"
    return "" if event.tps is None else f"{event.tps:.1f} tokens/s"
