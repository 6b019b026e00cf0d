"""The outcome of a tune, in words and as JSON: the pick, its speedup, and the other contenders."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Literal

from answers.engine_commands import ServeLine
from estimates.intervals import corrected, corrected_estimate
from estimates.model import Estimate
from estimates.summary import summarize
from estimates.verdicts import judge
from harness.campaign.model import ArmPlan
from harness.report import words
from harness.report.setting_results import SettingFigures, settings
from harness.tune.decisions import SpeedRatio, Verdict
from harness.tune.search import StageName
from schemas.codec import Json
from schemas.submission import Submission
from schemas.vocabulary import say, sentence

State = Literal["forecast", "dropped", "raced", "certified"]
OFF = "none"
# A bound on the difference between arms is informative only below this share.
_CLOSE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """An arm that was considered: its forecast, and its speedup if the arm ran."""

    arm: ArmPlan
    family: str
    depth: int
    predicted: float | None
    state: State
    gain: SpeedRatio | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The findings of a tune. `verdict` is `None` if the tune ended before its certificate.

    `leader` is the best arm so far. The arms in `close` may be as fast, and differ from it by at
    most the fraction `within`.
    """

    contenders: tuple[Contender, ...]
    leader: Contender | None
    verdict: Verdict | None
    close: tuple[str, ...]
    within: float
    interrupted: bool
    stages: Mapping[StageName, Submission]

    @property
    def submission(self) -> Submission:
        """The submission of the last stage: the certificate, unless the tune was cut short."""
        return [*self.stages.values()][-1]

    @property
    def trials(self) -> int:
        return sum(len(each.trials) for each in self.stages.values())

    @property
    def raced(self) -> int:
        """The number of arms from which the best was chosen."""
        return sum(each.state != "forecast" for each in self.contenders)

    @property
    def certified(self) -> bool:
        """Whether there is a certified speedup."""
        return self.verdict is not None


def speedup(outcome: Outcome) -> SpeedRatio | None:
    """The best arm's speedup in the result file, or else the uncertified speedup from the race."""
    leader, found = outcome.leader, certified(outcome)
    if leader is None or leader.gain is None:
        return None
    ratio, interval = leader.gain.estimate, leader.gain.interval
    if found is not None and found.whole.speedup is not None and found.whole.interval is not None:
        ratio, interval = found.whole.speedup, found.whole.interval
    if interval is not None:
        chosen = [each for each in outcome.contenders if each.state == "certified"]
        interval = corrected(interval, ratio, len(chosen) or outcome.raced)
    return SpeedRatio(estimate=ratio, interval=interval)


def certified(outcome: Outcome) -> SettingFigures | None:
    """The certified figures of the best arm; `None` without a certificate."""
    name = outcome.leader.arm.id if outcome.leader else None
    return next((each for each in _settings(outcome) if each.arm.id == name), None)


def recommended(outcome: Outcome) -> bool:
    """Whether to use the best arm: it is faster, and whole requests are not clearly slower."""
    found = certified(outcome)
    picked = outcome.verdict is not None and outcome.verdict.pick is not None
    return picked and (found is None or judge(found.whole.whole_request_interval) != "hurts")


def _settings(outcome: Outcome) -> list[SettingFigures]:
    certificate = outcome.stages.get("certificate")
    return [] if certificate is None else settings(certificate, summarize(certificate))


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskPick:
    """The better certified arm on a task; `word` says whether to use the arm for the task."""

    task: str
    arm: str
    speedup: SpeedRatio
    word: Literal["use", "off", "unclear"]


def by_task(outcome: Outcome) -> Iterator[_TaskPick]:
    """Yield the better arm on every task; the bounds allow for the choice among arms and tasks."""
    tasks: dict[str, list[tuple[float, SettingFigures, Estimate]]] = {}
    for setting in _settings(outcome):
        for figures in setting.tasks:
            tasks.setdefault(figures.scope, []).append((figures.speedup or 0.0, setting, figures))
    for task, choices in tasks.items():
        ratio, setting, best = max(choices, key=itemgetter(0))
        interval = corrected_estimate(best, setting.task_choices)
        measured = SpeedRatio(estimate=ratio, interval=interval)
        word: Literal["use", "off", "unclear"] = "unclear"
        if interval is not None and judge(interval, best.whole_request_interval) == "helps":
            word = "use"
        elif measured.slower or best in setting.lost:
            word = "off"
        yield _TaskPick(task=task, arm=best.arm, speedup=measured, word=word)


def why(outcome: Outcome) -> str:
    """Return the reason for the pick, in a few sentences."""
    return " ".join(_reasons(outcome))


def _reasons(outcome: Outcome) -> Iterator[str]:
    found, leader = speedup(outcome), outcome.leader
    if leader is None or found is None:
        where = "before" if outcome.contenders and "race" not in outcome.stages else "in"
        stage, known = ("race", "only forecasts") if outcome.contenders else ("look", "no forecast")
        yield f"Stopped {where} the {stage}: {known} so far, and no setting was chosen."
    elif outcome.verdict is None:
        times = words.speedup(found.estimate, found.interval)
        yield (
            f"{leader.arm.id} leads at {times}, but this lead is not certified: "
            f"{'the tune was interrupted' if outcome.interrupted else 'the time was too short'}."
        )
    else:
        yield from _certified(outcome, leader, found)
    if leader is not None and outcome.close:
        names = say.listed([leader.arm.id, *outcome.close])
        yield f"The tune could not separate {names} in this time: they {_apart(outcome.within)}."


def _apart(share: float) -> str:
    """Return in words how far apart the arms may be."""
    return (
        f"are within {say.percent(share, 1)} of each other" if share < _CLOSE else "may differ much"
    )


def _certified(outcome: Outcome, leader: Contender, gain: SpeedRatio) -> Iterator[str]:
    prompts = say.count(len(outcome.submission.suite.prompts), "prompt")
    times = words.speedup(gain.estimate, gain.interval)
    measured = f"{times} the speed without speculation, over {prompts} that the race did not use"
    forecast = "" if leader.predicted is None else f" (forecast: {say.times(leader.predicted)})"
    setting = certified(outcome)
    request = None if setting is None else setting.whole.whole_request
    if recommended(outcome):
        yield f"{leader.arm.id} runs at {measured}{forecast}."
        if request is not None:
            yield sentence("request", length="", ratio=say.times(request))
        if gain.interval is not None and gain.interval.low < 1:
            yield (
                "That interval covers only these prompts; with the race's prompts included, "
                "speculation is clearly faster."
            )
    elif outcome.verdict is not None and outcome.verdict.pick is not None:
        yield f"{leader.arm.id} writes at {measured}{forecast}, but takes longer overall."
        yield sentence("request", length="", ratio=say.times(request))
    elif gain.slower:
        yield f"No setting helps here: the best, {leader.arm.id}, runs at {measured}{forecast}."
    else:
        yield (
            f"No setting is clearly faster: the best, {leader.arm.id}, runs at "
            f"{measured}{forecast}."
        )
        if (apart := _undecided(outcome)) is not None:
            yield (
                f"The speeds with this setting and without speculation {_apart(apart)}; more "
                "prompts, or a quieter machine, would separate them."
            )


def as_json(outcome: Outcome, *, command: ServeLine | None, path: Path | None) -> dict[str, Json]:
    """Return the tune as JSON. `pick` is `None` if no arm was certified."""
    gain = speedup(outcome)
    return {
        "pick": _pick(outcome, command),
        "speedup": gain.as_json() if gain else None,
        "certified": outcome.certified,
        "candidates": [
            {
                "arm": tried.arm.id,
                "family": tried.family,
                "method": tried.arm.method.type,
                "depth": tried.depth,
                "predicted": tried.predicted,
                "measured": tried.gain.as_json() if tried.gain else None,
                "state": tried.state,
            }
            for tried in outcome.contenders
        ],
        "not_separable": {
            "arms": list(outcome.close),
            "within": outcome.within if outcome.close else None,
            "from_no_speculation": _undecided(outcome),
        },
        "tasks": [
            {"task": task.task, "arm": task.arm, "word": task.word, **task.speedup.as_json()}
            for task in by_task(outcome)
        ],
        "trials": outcome.trials,
        "prompts": {name: len(stage.suite.prompts) for name, stage in outcome.stages.items()},
        "why": why(outcome),
        "result": None if path is None else str(path),
    }


def _undecided(outcome: Outcome) -> float | None:
    """Return the largest possible difference between the pick and no speculation, if undecided."""
    if outcome.verdict is None or outcome.verdict.undecided is None:
        return None
    return math.expm1(outcome.verdict.undecided)


def _pick(outcome: Outcome, command: ServeLine | None) -> Json:
    if outcome.verdict is None or outcome.leader is None:
        return None
    used = recommended(outcome)
    method = outcome.leader.arm.method
    return {
        "arm": outcome.leader.arm.id if used else None,
        "method": method.type if used else OFF,
        "depth": (outcome.leader.depth or method.n_max) if used else 0,
        "draft": method.draft if used else None,
        "command": command.text if command else None,
        # The difference between the command line and the measurement.
        "note": command.note if command else None,
    }
