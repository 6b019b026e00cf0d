"""The outcome of a tune, in words and as JSON: the pick, its speedup, the other contenders."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from estimates.commands import ServeLine
from estimates.model import Estimate
from estimates.summary import summarize
from estimates.tuning import SpeedRatio, Verdict
from harness.campaign.model import ArmPlan, Campaign
from harness.report.words import overall
from harness.tune.search import StageName
from schemas.codec import Json
from schemas.submission import Submission
from schemas.vocabulary import say

State = Literal["forecast", "dropped", "raced", "certified"]
OFF = "none"
# A bound on how far apart arms are says something only below this.
_CLOSE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """An arm that was considered: its forecast, and its speedup where it was run."""

    arm: ArmPlan
    family: str
    depth: int
    predicted: float | None
    state: State
    gain: SpeedRatio | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a tune found. `verdict` is `None` where it ended before its certificate.

    `leader` is the best arm so far; those in `close` may be as fast, all of them within `within`.
    """

    contenders: tuple[Contender, ...]
    leader: Contender | None
    verdict: Verdict | None
    close: tuple[str, ...]
    within: float
    stages: Mapping[StageName, Submission]
    campaigns: Mapping[StageName, Campaign]

    @property
    def submission(self) -> Submission:
        """The last stage's: the certificate, unless the tune was cut short."""
        return [*self.stages.values()][-1]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.submission.design.ended == "interrupted"

    @property
    def trials(self) -> int:
        """How many trials all stages ran."""
        return sum(len(each.trials) for each in self.stages.values())

    @property
    def certified(self) -> bool:
        """Whether the certificate holds a figure."""
        return self.verdict is not None


def speedup(outcome: Outcome) -> SpeedRatio | None:
    """The speedup of the best arm, as the result file has it; else the race's, not certified."""
    leader = outcome.leader
    if leader is None or leader.gain is None:
        return None
    estimates = [each for each in _estimates(outcome) if each.arm == leader.arm.id]
    found = overall(estimates) if estimates else None
    if found is None or found.speedup is None or found.interval is None:
        return leader.gain
    return SpeedRatio(estimate=found.speedup, interval=found.interval)


def _estimates(outcome: Outcome) -> tuple[Estimate, ...]:
    """What the certificate says; nothing without one."""
    certificate = outcome.stages.get("certificate")
    return () if certificate is None else summarize(certificate).estimates


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPick:
    """The better of the certified arms on a task. `word`: use, off or unclear."""

    task: str
    arm: str
    speedup: SpeedRatio
    word: Literal["use", "off", "unclear"]


def by_task(outcome: Outcome) -> Iterator[TaskPick]:
    """The better arm on every task; unclear where the interval holds 1."""
    tasks: dict[str, list[Estimate]] = {}
    for each in _estimates(outcome):
        if each.task is not None and each.speedup is not None:
            tasks.setdefault(each.task, []).append(each)
    for task, found in tasks.items():
        best = max(found, key=lambda each: each.speedup or 0.0)
        word: Literal["use", "off", "unclear"] = "unclear"
        measured = SpeedRatio(estimate=best.speedup or 0.0, interval=best.interval)
        if best.interval is not None and best.interval.low > 1:
            word = "use"
        elif measured.slower:
            word = "off"
        yield TaskPick(task=task, arm=best.arm, speedup=measured, word=word)


def why(outcome: Outcome) -> str:
    """The reason for the pick, in a few sentences."""
    return " ".join(_reasons(outcome))


def _reasons(outcome: Outcome) -> Iterator[str]:
    found, leader = speedup(outcome), outcome.leader
    if leader is None or found is None:
        yield "Nothing was raced, so nothing is known but forecasts: no pick."
    elif outcome.verdict is None:
        yield (
            f"{leader.arm.id} leads at {_words(found)}, but that is not certified: "
            f"{'the tune was interrupted' if outcome.interrupted else 'the time was too short'}."
        )
    else:
        yield from _certified(outcome, leader, found)
    if leader is not None and outcome.close:
        names = say.listed([leader.arm.id, *outcome.close])
        yield f"Not separable in this time: {names} {_apart(outcome.within)}."


def _words(found: SpeedRatio) -> str:
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return say.speedup(found.estimate, low, high)


def _apart(share: float) -> str:
    """How far apart arms are at most, as far as that says anything."""
    return (
        f"are within {say.percent(share, 1)} of each other" if share < _CLOSE else "may differ much"
    )


def _certified(outcome: Outcome, leader: Contender, found: SpeedRatio) -> Iterator[str]:
    prompts = say.count(len(outcome.submission.suite.prompts), "prompt")
    measured = (
        f"{_words(found)} the speed of no speculation, over {prompts} that the race did not use"
    )
    forecast = "" if leader.predicted is None else f" (forecast: {say.times(leader.predicted)})"
    if outcome.verdict is not None and outcome.verdict.pick is not None:
        yield f"{leader.arm.id} runs at {measured}{forecast}."
        if found.interval is not None and found.interval.low < 1:
            yield "The interval reaches below 1 because the tasks differ; see them one by one."
    elif found.slower:
        yield f"Nothing helps here: the best, {leader.arm.id}, runs at {measured}{forecast}."
    else:
        yield f"No gain is shown: the best, {leader.arm.id}, runs at {measured}{forecast}."
        if outcome.verdict is not None and outcome.verdict.undecided is not None:
            apart = _apart(math.expm1(outcome.verdict.undecided))
            yield (
                f"Not separable: it and no speculation {apart}; "
                "more prompts, or a quieter machine, would decide."
            )


def as_json(outcome: Outcome, *, command: ServeLine | None, path: Path | None) -> dict[str, Json]:
    """The tune for machines. `pick` is `None` where nothing was certified."""
    found = speedup(outcome)
    return {
        "pick": _pick(outcome, command),
        "speedup": None if found is None else found.as_json(),
        "certified": outcome.certified,
        "candidates": [_candidate(each) for each in outcome.contenders],
        "not_separable": {
            "arms": list(outcome.close),
            "within": outcome.within if outcome.close else None,
            "from_no_speculation": _undecided(outcome),
        },
        "tasks": [
            {"task": each.task, "arm": each.arm, "word": each.word, **each.speedup.as_json()}
            for each in by_task(outcome)
        ],
        "trials": outcome.trials,
        "prompts": {name: len(each.suite.prompts) for name, each in outcome.stages.items()},
        "why": why(outcome),
        "result": None if path is None else str(path),
    }


def _undecided(outcome: Outcome) -> float | None:
    """Within which share the best arm and no speculation are, where that is all that is known."""
    if outcome.verdict is None or outcome.verdict.undecided is None:
        return None
    return math.expm1(outcome.verdict.undecided)


def _pick(outcome: Outcome, command: ServeLine | None) -> Json:
    if outcome.verdict is None or outcome.leader is None:
        return None
    if outcome.verdict.pick is None:
        return {"arm": None, "method": OFF, "depth": 0, "draft": None, **_line(command)}
    method = outcome.leader.arm.method
    return {
        "arm": outcome.leader.arm.id,
        "method": method.type,
        "depth": outcome.leader.depth or method.n_max,
        "draft": method.draft,
        **_line(command),
    }


def _line(command: ServeLine | None) -> dict[str, Json]:
    """The command line, and what a reader must know where it is not what was measured."""
    if command is None:
        return {"command": None, "note": None}
    return {"command": command.text, "note": command.note}


def _candidate(contender: Contender) -> Json:
    gain = None if contender.gain is None else contender.gain.as_json()
    return {
        "arm": contender.arm.id,
        "family": contender.family,
        "method": contender.arm.method.type,
        "depth": contender.depth,
        "predicted": contender.predicted,
        "measured": gain,
        "state": contender.state,
    }
