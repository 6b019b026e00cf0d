"""Shows a campaign's plan, then its progress: arm, prompt, tokens/s and the time left."""

import time
from collections import Counter
from collections.abc import Iterator
from threading import Timer
from typing import Self

from rich.console import Console
from rich.text import Text

from harness.campaign.model import Campaign
from harness.campaign.trial_order import plan
from harness.report import events, words
from harness.report.expected_time import ExpectedTime, RemainingTime
from harness.report.words import seconds
from schemas.codec import Json, encode
from schemas.vocabulary import say


def lines(campaign: Campaign, estimate: ExpectedTime | None) -> Iterator[str]:
    """Yield the plan: models, arms, prompts, trials, stop conditions, and expected duration."""
    tasks = Counter(prompt.task for prompt in campaign.suite.prompts)
    yield f"target    {words.model(campaign.target.model)}"
    for draft in campaign.drafts:
        yield f"draft     {words.model(draft.model)}"
    yield f"arms      {', '.join(arm.id for arm in campaign.arms)}"
    yield f"prompts   {', '.join(f'{count} {task}' for task, count in tasks.items())}"
    yield f"profile   {campaign.profile}, suite {campaign.suite.id} {campaign.suite.version}"
    yield f"trials    {_trials(campaign)}, up to {campaign.settings.max_output_tokens} tokens each"
    rule = campaign.stopping
    if rule.repeat_beyond is not None:
        yield (
            "ends      after these blocks; if an arm's two times for a prompt then differ by "
            f"more than {say.percent(rule.repeat_beyond)}, all arms answer that prompt again"
        )
    if rule.budget_s is not None:
        yield f"budget    {seconds(rule.budget_s)} for the whole command"
    if estimate is None:
        yield "expected  unknown: the size of the target's weights is not known"
    else:
        yield f"expected  about {estimate.span}; {_BASIS}"


_BASIS = (
    "an estimate from the models' sizes and the bandwidth of main memory, corrected after the "
    "first answers; a GPU is faster"
)


def _trials(campaign: Campaign) -> str:
    blocks, prompts, arms = campaign.blocks, len(campaign.suite.prompts), len(campaign.arms)
    counts = f"{say.count(prompts, 'prompt')} x {say.count(arms, 'arm')}"
    return f"{say.count(blocks, 'block')} x {counts} = {blocks * prompts * arms}"


def as_json(campaign: Campaign, estimate: ExpectedTime | None) -> dict[str, Json]:
    return {
        "profile": campaign.profile,
        "target": encode(campaign.target.model),
        "drafts": [encode(draft.model) for draft in campaign.drafts],
        "arms": [encode(arm) for arm in campaign.arms],
        "suite": campaign.suite.id,
        "prompts": [prompt.id for prompt in campaign.suite.prompts],
        "settings": encode(campaign.settings),
        "blocks": campaign.blocks,
        "stopping": encode(campaign.stopping),
        "expected_s": round(estimate.seconds, 1) if estimate else None,
        "expected_least_s": round(estimate.least_seconds, 1) if estimate else None,
        "expected_from": _BASIS if estimate else None,
        "trials": [encode(trial) for trial in plan(campaign)],
    }


# A larger factor than this between two estimates is reported.
_FAR = 1.4
_LINE_S = 60.0  # seconds between two progress lines in a log
_STAGES = {
    "loading": "Loading {}",
    "warming-up": "Warming up {}",
    "probing": "Measuring the cost of single steps",
}


class ProgressDisplay:
    """An observer that shows a campaign: one changing line on a terminal, else a line a minute."""

    def __init__(
        self,
        console: Console,
        *,
        expected: ExpectedTime | None = None,
        most_s: float | None = None,
        line_s: float = _LINE_S,
    ) -> None:
        """`most_s` is the run's time limit; `line_s` is the time between lines in a log."""
        self._console, self._status = console, console.status("Starting", refresh_per_second=2)
        self._printed: set[str] = set()
        self._said_s = expected and expected.seconds
        self.remaining = RemainingTime(most_s)
        self._began_s = time.monotonic()
        self._line_s, self._line, self._counts, self._known = line_s, "Starting", "", False
        self._timer = self._next_line()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
        else:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._status.stop()

    def _next_line(self) -> Timer:
        timer = Timer(self._line_s, self._write_line)
        timer.daemon = True
        return timer

    def _write_line(self) -> None:
        """Write progress and time left to a log; repeat every `line_s` seconds."""
        passed = f"{seconds(time.monotonic() - self._began_s)} so far"
        self._say(self._counts if self._known else f"{self._line}, {passed}")
        self._timer = self._next_line()
        self._timer.start()

    def _correct(self, left_s: float) -> None:
        """Print the duration that the answers imply, if it is far from the last one printed."""
        whole_s = time.monotonic() - self._began_s + left_s
        said_s, takes = self._said_s, seconds(whole_s)
        if said_s and takes != seconds(said_s) and not 1 / _FAR < whole_s / said_s < _FAR:
            word = "slower" if whole_s > said_s else "faster"
            self._say(f"This machine is {word} than estimated: the run takes about {takes}.")
            self._said_s = whole_s

    def __call__(self, event: events.Event, *, name: str = "") -> None:
        """Show an event of the campaign `name`."""
        prefix = f"{name}: " if name else ""
        self.remaining.observe(name, event)
        match event:
            case events.ArmFailed() | events.Settled():
                self._print(prefix + _lasting(event))
            case events.TrialEnded():
                self._count(event, prefix)
            case events.Stage() | events.TrialStarted():
                self._line = prefix + _what(event)
            case _:
                pass
        self._status.update(Text(", ".join(filter(None, (self._line, self._counts)))))

    def _count(self, event: events.TrialEnded, prefix: str) -> None:
        """Count a trial of all campaigns; print its failure."""
        known_s = self.remaining.seconds()
        left = f", about {seconds(known_s)} left" if known_s else ""
        done, total = self.remaining.trials
        first, self._counts = not self._known, f"{done} of {total} trials{left}"
        if known_s is not None:
            self._correct(known_s)
            self._known = True
            if first and not self._console.is_terminal:
                self._say(self._counts)
        if event.failure is not None:
            self._print(f"{prefix}{event.trial.arm} failed: {event.failure.detail}")

    def _print(self, text: str) -> None:
        """Print a permanent line, each only once: twenty trials may fail for the same reason."""
        if text not in self._printed:
            self._printed.add(text)
            self._say(text)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def _lasting(event: events.ArmFailed | events.Settled) -> str:
    if isinstance(event, events.ArmFailed):
        return f"{event.arm} cannot run: {event.failure.detail}"
    if event.steady:
        return "The clock, power and temperature of the device have settled."
    return "The device's clock, power or temperature still changes after a minute of warm-up."


def _what(event: events.Stage | events.TrialStarted) -> str:
    if isinstance(event, events.TrialStarted):
        return f"{event.trial.arm} · {event.trial.prompt}"
    return _STAGES[event.kind].format(event.name)
