"""Read the speeds and speedups of a planned model from results of such a machine."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from estimates.identity import identify
from estimates.intervals import corrected_estimate
from estimates.pairing import plain_tps
from estimates.summary import summarize
from harness.campaign.model import ALL_LAYERS
from harness.errors import BadInputError
from harness.record.kept import is_model
from harness.record.read import result
from harness.report.setting_results import SettingFigures, settings
from planner.engine_commands import source_of
from planner.machines import device_key, is_processor
from planner.names import card_key
from planner.question import Question
from planner.speed import SpeedEstimate
from planner.ways import Way
from schemas.submission import Submission
from schemas.vocabulary import say

# The assumed error, as a factor, of a speedup without an interval, as over a single prompt.
_ONE_PROMPT = 1.5
_NAMED = 3  # doubts that are named
_UNDECIDED = {"uncertain", "slower-in-all"}
# What was measured, and by depth the speedups and the tokens of a round.
Known: TypeAlias = tuple[str, dict[int, SpeedEstimate], dict[int, float]]


class OwnRuns:
    """The results, of those of a question's model, whose machine and cache are the question's.

    When and where a result was measured comes with it; the first that has a figure counts.
    """

    def __init__(self, question: Question, results: Iterable[tuple[str, Submission]]) -> None:
        self._task = question.task
        such = (each for each in results if _is_such(each[1], question))
        self._runs = [(when, run, summarize(run)) for when, run in such]

    @property
    def plain_tps(self) -> float | None:
        return next(filter(None, (plain_tps(run) for _, run, _ in self._runs)), None)

    def speedups(self, way: Way) -> Known | None:
        """Return the speedups and tokens of the first run that has any for a way to draft."""
        for when, run, summary in self._runs:
            drafts = {model.id: model for model in run.drafts}
            own = [
                each
                for each in settings(run, summary)
                if each.arm.method.type == way.method and each.alone
                if is_model(drafts.get(each.arm.method.draft or ""), way.draft)
            ]
            # The best of several settings with one depth comes first, so it is taken last.
            gains = {each.arm.method.n_max or 0: _gain(each, self._task) for each in own[::-1]}
            if known := {depth: gain for depth, gain in gains.items() if depth and gain}:
                counted = {each.arm.method.n_max: each.whole.tokens_per_round for each in own[::-1]}
                tokens = {depth: count for depth, count in counted.items() if depth and count}
                flags = dict.fromkeys(x.name for x in summary.flags if x.severity != "note")
                doubts = f" (doubts: {say.listed([*flags][:_NAMED])})" if flags else ""
                return f"Measured {when}{doubts}", known, tokens
        return None


def fastest(path: Path) -> SettingFigures:
    """Return a result's fastest setting for single requests that drafts in each round.

    Raises `BadInputError` if the file is not a result, or no tokens a round are known.
    """
    run = result(path)
    found = [
        each
        for each in settings(run, summarize(run))
        if each.alone and each.whole.tokens_per_round and each.arm.method.n_max
        if source_of(each.arm.method.type) != "text"
    ]
    if not found:
        raise BadInputError(f"{path}: no arm of this result has tokens per round over all prompts")
    return max(found, key=lambda each: each.whole.speedup or 0.0)


def _is_such(run: Submission, question: Question) -> bool:
    """Whether a run had such a card (or none), the target entirely on it, and the same cache."""
    rig, cards = identify(run), {memory.card for memory in question.computer.devices}
    if rig.device_kind != "gpu" or run.engine.backend == "cpu":
        device = device_key(rig.device_label, on_cpu=True)
        here = not cards and is_processor(device, question.computer.host.card)
    else:
        places = [arm.placement for arm in run.arms if arm.placement]
        layers = {place.target_gpu_layers_requested for place in places}
        here = card_key(rig.device_name) in cards and layers <= {None, ALL_LAYERS}
    types = (run.settings.kv_type_k or "f16", run.settings.kv_type_v or "f16")
    return here and types == (question.setting.kv_k, question.setting.kv_v)


def _gain(found: SettingFigures, task: str | None) -> SpeedEstimate | None:
    """Return a setting's speedup, with its interval as reports print it; `None` if there is none.

    It is that on the asked task, else over all tasks, else on the first one.
    """
    own = [*(each for each in found.tasks if each.task == task), found.whole, *found.tasks]
    chosen = next((each for each in own if each.speedup), None)
    if chosen is None or chosen.speedup is None:
        return None
    ends = corrected_estimate(chosen, found.task_choices if chosen.task else found.choices)
    return SpeedEstimate(
        estimate=chosen.speedup,
        low=ends.low if ends else chosen.speedup / _ONE_PROMPT,
        high=ends.high if ends else chosen.speedup * _ONE_PROMPT,
        basis="doubted" if {found.verdict, chosen.verdict} & _UNDECIDED else "here",
    )
