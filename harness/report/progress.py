"""Shows what a campaign will do, then its progress: arm, prompt, tokens/s and the time left."""

import time
from collections import Counter
from collections.abc import Iterator
from threading import Timer
from typing import Self, assert_never

from rich import progress
from rich.console import Console

from harness.campaign.duration import Expected
from harness.campaign.model import Campaign
from harness.campaign.plan import plan
from harness.report import words
from harness.report.words import seconds
from harness.run import events
from harness.runners.base import Failure
from schemas.codec import Json, encode
from schemas.vocabulary import say


def lines(campaign: Campaign, estimate: Expected | None) -> Iterator[str]:
    """Models, arms, prompts, trials, when it ends, and the expected duration."""
    tasks = Counter(prompt.task for prompt in campaign.suite.prompts)
    yield f"target    {words.model(campaign.target.model)}"
    for draft in campaign.drafts:
        yield f"draft     {words.model(draft.model)}"
    yield f"arms      {', '.join(arm.id for arm in campaign.arms)}"
    yield f"prompts   {', '.join(f'{count} {task}' for task, count in tasks.items())}"
    yield f"profile   {campaign.profile}, suite {campaign.suite.id} {campaign.suite.version}"
    yield f"trials    {_trials(campaign)}, up to {campaign.settings.max_output_tokens} tokens each"
    rule = campaign.stopping
    if rule.precision is not None:
        yield (
            f"ends      once every speedup is repeatable within \N{PLUS-MINUS SIGN}"
            f"{say.percent(rule.precision, 1)}, or after {say.count(campaign.blocks, 'block')}"
        )
    if rule.repeat_beyond is not None:
        yield (
            "ends      after those; a prompt on which two times of an arm differ by more than "
            f"{say.percent(rule.repeat_beyond)} is then written once more by all arms"
        )
    if rule.budget_s is not None:
        yield f"budget    {seconds(rule.budget_s)}; no block is started that would overrun it"
    if estimate is None:
        yield "expected  unknown: the size of the target's weights is not known"
    else:
        spans = dict.fromkeys(map(seconds, (estimate.least_seconds, estimate.seconds)))
        yield f"expected  about {' to '.join(spans)}; {_BASIS}"


_BASIS = (
    "an estimate from the models' sizes and how fast this processor reads memory, which the "
    "warm-up corrects; on a GPU it is faster"
)


def _trials(campaign: Campaign) -> str:
    least, most = campaign.least_blocks, campaign.blocks
    prompts, arms = len(campaign.suite.prompts), len(campaign.arms)
    blocks = say.count(most, "block") if least == most else f"{least} to {most} blocks"
    each = prompts * arms
    total = f"{most * each}" if least == most else f"{least * each} to {most * each}"
    counts = f"{say.count(prompts, 'prompt')} x {say.count(arms, 'arm')}"
    return f"{blocks} x {counts} = {total}"


def as_json(campaign: Campaign, estimate: Expected | None) -> dict[str, Json]:
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
        "expected_s": round(estimate.seconds, 1) if estimate else None,
        "expected_least_s": round(estimate.least_seconds, 1) if estimate else None,
        "expected_from": _BASIS if estimate else None,
        "trials": [encode(trial) for trial in plan(campaign)],
    }


# A run that takes half as long again as expected says so.
_LATE = 1.5


class ProgressDisplay:
    """An observer that draws on a console; on anything but a terminal it writes a few lines."""

    def __init__(self, console: Console, *, expected: Expected | None = None) -> None:
        """Without an expected duration the display never says that the run is late."""
        self._progress = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=None),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[whole]}"),
            console=console,
            transient=True,
            refresh_per_second=2,  # each is work next to what is measured
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, progress.TaskID] = {}
        self._printed: set[str] = set()
        self._expected, self._corrected = expected, False
        self._began_s = time.monotonic()
        self._late = self._timer()

    def __enter__(self) -> Self:
        self._progress.start()
        if self._expected is not None:
            self._late.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._late.cancel()
        self._progress.stop()

    @property
    def _expected_s(self) -> float:
        return 0.0 if self._expected is None else self._expected.seconds

    def _timer(self) -> Timer:
        passed_s = time.monotonic() - self._began_s
        late = Timer(max(0.0, _LATE * self._expected_s - passed_s), self._say_late)
        late.daemon = True
        return late

    def _correct(self, event: events.WarmedUp) -> None:
        """Rescale the expected duration by the first warm-up; print it where it changes much."""
        if self._expected is None or self._corrected or not event.token_s:
            return
        self._corrected = True
        factor = event.token_s / self._expected.token_s
        self._late.cancel()
        self._expected = self._expected.times(factor)
        self._late = self._timer()
        self._late.start()
        if not 1 / _LATE < factor < _LATE:
            self._print(f"As fast as the warm-up, this takes about {seconds(self._expected_s)}.")

    def _say_late(self) -> None:
        """Say that the run takes longer than it was expected to, and by how much, if known."""
        text = f"This takes longer than the {seconds(self._expected_s)} that were expected"
        left = [task.time_remaining for task in self._progress.tasks if task.time_remaining]
        more = f"; about {seconds(max(left))} are left" if left else ""
        self._print(f"{text}{more}. Ctrl-C ends it and keeps what was measured.")

    def __call__(self, event: events.Event, *, name: str = "", left_s: float | None = None) -> None:
        """Show what happened to the campaign `name`; each has a bar of its own."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(
                f"{name} starting", total=None, rate="", whole=""
            )
        task, update = self._tasks[name], self._progress.update
        prefix = f"{name}: " if name else ""
        match event:
            case events.TrialsPlanned():
                update(task, total=event.total, completed=event.done)
            case events.WarmedUp():
                self._correct(event)
            case events.Extended():
                off = event.half_width
                wide = "Disagreeing" if off is None else f"Still ±{say.percent(off, 1)}"
                update(task, total=event.total, description=f"{prefix}{wide}, once more")
            case events.ArmFailed() | events.Settled():
                self._print(prefix + _lasting(event))
            case events.TrialEnded():
                whole = "" if left_s is None else f"all done in {seconds(left_s)}"
                update(task, advance=1, rate=_rate(event), whole=whole)
                self._log(self._progress.tasks[task], prefix, left_s)
                if event.failure is not None:
                    self._print(f"{prefix}{event.trial.arm} failed: {_why(event.failure)}")
            case _:
                update(task, description=prefix + _what(event))

    def _log(self, task: progress.Task, prefix: str, left_s: float | None) -> None:
        """Print a line after each tenth of the trials where no bar is shown."""
        if self._progress.disable and task.total:
            tenths = int(10 * task.completed / task.total)
            if tenths > int(10 * (task.completed - 1) / task.total):
                done = f"{prefix}{task.completed:.0f} of {task.total:.0f} trials"
                left = task.time_remaining if left_s is None else left_s
                of = "" if left_s is None else " until all is done"
                self._print(f"{done}, about {seconds(left)} left{of}" if left else done)

    def _print(self, text: str) -> None:
        """Print a lasting line, each text only once: twenty trials may fail for one reason."""
        if text not in self._printed:
            self._printed.add(text)
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _lasting(event: events.ArmFailed | events.Settled) -> str:
    if isinstance(event, events.ArmFailed):
        return f"{event.arm} cannot run: {_why(event.failure)}"
    if event.steady:
        return "The clock, power and temperature of the device have settled."
    return "After a minute of warming up the device's clock, power or temperature still changes."


def _why(failure: Failure) -> str:
    return f"{failure.detail} [{failure.reason}]"


def _what(
    event: events.Loading
    | events.WarmingUp
    | events.Probing
    | events.TrialStarted
    | events.Finished,
) -> str:
    match event:
        case events.Loading():
            return f"Loading {event.what}"
        case events.WarmingUp():
            return f"Warming up {event.arm}"
        case events.Probing():
            return "Measuring costs of single steps"
        case events.TrialStarted():
            return f"{event.trial.arm} · {event.trial.prompt}"
        case events.Finished():
            return "Done"
        case _:
            assert_never(event)


def _rate(event: events.TrialEnded) -> str:
    if event.failure is not None:
        return f"failed: {event.failure.reason}"
    return "" if event.tps is None else f"{event.tps:.1f} tokens/s"
