"""Base a plan on what was measured of its model: in this machine's record or in named results.

A measured speedup comes first. Else, if a draft's accepted tokens were counted and the target's
steps were timed, the two give the speedup by depth that `acceptance` prints. Counted tokens alone
are the asker's acceptance.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import asdict, replace

from answers.answer import Answer
from answers.machines import Computer, device_key
from answers.names import card_key
from answers.placement import fit
from answers.question import Question
from answers.rates import is_processor
from answers.rounds import Curve
from answers.speed import Basis, SpeedEstimate
from answers.ways import OwnRounds, PlannedModel, Way
from estimates.identity import identify
from estimates.intervals import corrected_estimate
from estimates.model import Summary
from estimates.pairing import plain_tps
from estimates.summary import summarize
from harness.campaign.model import ALL_LAYERS
from harness.models.describe import cached_facts
from harness.record.kept import KeptAcceptance, KeptCurve, device_of, recorded
from harness.record.read import result
from harness.report.setting_results import SettingFigures, settings
from schemas.submission import Model, Submission
from schemas.vocabulary import say

# The assumed error, as a factor, of a speedup over a single prompt or at another depth.
_UNKNOWN_ERROR = 1.5
_REACH = 1.1  # of a plain speed; a step without context and sampling is slightly faster
_NAMED = 3  # doubts that are named
_MS = 1000.0
_UNDECIDED = {"uncertain", "slower-in-all"}
OwnRun: TypeAlias = tuple[str, Submission, Summary]  # when and where it was measured comes first
Known: TypeAlias = tuple[str, dict[int, SpeedEstimate]]  # what was measured, and speedups by depth


def with_own_figures(
    question: Question,
    files: Iterable[Path],
    depth: int | None = None,
    logged_tps: float | None = None,
) -> Question:
    """Return the question with what was measured of its model; `depth` is the requested depth.

    `logged_tps` is the plain speed in a log that the user gave.

    The record does not count for a described machine. Raises `BadInputError` if a file is not a
    result.
    """
    runs = [*_runs(question, files)]
    ways = tuple(_known(way, question, runs, depth) for way in question.ways)
    named = (new for old, new in zip(question.ways, ways, strict=True) if old is question.named)
    question = replace(question, ways=ways, named=next(named, None))
    run_tps = logged_tps or next(filter(None, (plain_tps(run) for _, run, _ in runs)), None)
    tps = run_tps or (_MS / question.curve.step_ms if question.curve else None)
    if tps is None or question.fixed or not fit(question.load).fits_whole:
        return question
    basis: Basis = "here" if run_tps else "curve"
    plain = SpeedEstimate(estimate=tps, low=tps / _REACH, high=tps * _REACH, basis=basis)
    return replace(question, plain=plain)


def lines(found: Answer) -> Iterator[str]:
    """Yield a sentence on each way to draft that was measured or counted here, the best first."""
    for each in sorted(found.options, key=lambda each: -each.tps.estimate):
        if each.way and each.way.basis and each.gain:
            gain, rates = each.gain, (each.tps.estimate, found.alone.tps.estimate)
            yield (
                f"{each.way.basis}: {each.way.label} at depth {each.depth} gives "
                f"{say.speedup(gain.estimate, gain.low, gain.high)}, "
                f"{' tokens/s instead of '.join(map(say.rate, rates))}."
            )


def kept_for(path: Path, computer: Computer) -> Curve | None:
    """Return the newest curve of a model file that was entirely on the GPUs, or on the CPU."""
    here = (not computer.devices, device_of(computer))
    for curve in recorded(KeptCurve):
        on_cpu = curve.engine.backend == "cpu"
        whole = on_cpu or curve.gpu_layers == ALL_LAYERS
        if whole and (on_cpu, curve.device) == here and _is_file(curve.model, path):
            return curve.curve
    return None


def _runs(question: Question, files: Iterable[Path]) -> Iterator[OwnRun]:
    """Yield the runs of this target on such a machine: the named ones, then the newest first."""
    named = [(path.name, result(path)) for path in files]
    listed = [(f"on {run.measured_until[:10]} in {name}", run) for name, run in named]
    if not question.computer.described:
        listed += [(f"here, {_ago(run.measured_until)}", run) for run in recorded(Submission)]
    for when, run in listed:
        if _is_model(run.target, question.target) and _is_such(run, question):
            yield when, run, summarize(run)


def _measured(way: Way, question: Question, runs: Sequence[OwnRun]) -> Known | None:
    """Return the speedups of the first run that has any for a way to draft."""
    for when, run, summary in runs:
        drafts = {model.id: model for model in run.drafts}
        own = [
            each
            for each in settings(run, summary)
            if each.arm.method.type == way.method and each.alone
            if _is_model(drafts.get(each.arm.method.draft or ""), way.draft)
        ]
        # The best of several settings with one depth comes first, so it is taken last.
        gains = {each.arm.method.n_max or 0: _gain(each, question.task) for each in own[::-1]}
        if known := {depth: gain for depth, gain in gains.items() if depth and gain}:
            flags = dict.fromkeys(flag.name for flag in summary.flags if flag.severity != "note")
            doubts = f" (doubts: {say.listed([*flags][:_NAMED])})" if flags else ""
            return f"Measured {when}{doubts}", known
    return None


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
        low=ends.low if ends else chosen.speedup / _UNKNOWN_ERROR,
        high=ends.high if ends else chosen.speedup * _UNKNOWN_ERROR,
        basis="doubted" if {found.verdict, chosen.verdict} & _UNDECIDED else "here",
    )


def _known(way: Way, question: Question, runs: Sequence[OwnRun], depth: int | None) -> Way:
    """Return a way to draft with its measured speedups, else with computed ones, if there are any.

    Another depth that is requested gets the speedup of the nearest one, with a wider interval. A
    requested acceptance counts instead.
    """
    if way.accepted is not None:
        return way
    basis, gains = _measured(way, question, runs) or _counted(way, question) or ("", {})
    if depth is not None and gains:
        nearest = min(gains, key=lambda each: abs(each - depth))
        gain, error = gains[nearest], 1.0
        if nearest != depth:
            basis, error = f"{basis}, at depth {nearest} instead of {depth}", _UNKNOWN_ERROR
        gains = {depth: replace(gain, low=gain.low / error, high=gain.high * error)}
    own = None if gains else _own_rounds(way, question)
    depths = tuple(sorted(gains)) or way.depths
    if own and depth is None:
        depths = tuple(range(1, len(own.counted) + 1))
    return replace(way, depths=depths, measured=gains, basis=basis, accepted=own)


def _own_rounds(way: Way, question: Question) -> OwnRounds | None:
    """Return the tokens of a round that were counted with a draft model."""
    found = _acceptance(way, question)
    if found is None:
        return None
    read = say.count(found.answers, "answer")
    return OwnRounds(
        counted=tuple(each.estimate for each in found.tokens_per_round),
        basis=f"the acceptance of {read} counted here, {_ago(found.measured_until)}",
    )


def _acceptance(way: Way, question: Question) -> KeptAcceptance | None:
    """Return the newest counts of these models on this machine."""
    if question.computer.described or way.draft is None:
        return None
    for found in recorded(KeptAcceptance):
        if _is_model(found.model, question.target) and _is_model(found.draft, way.draft):
            return found
    return None


def _counted(way: Way, question: Question) -> Known | None:
    """Return the speedups that counted tokens of a draft model and the measured steps give."""
    curve, found = question.curve, _acceptance(way, question)
    if curve is None or found is None or found.device != device_of(question.computer):
        return None
    read = say.count(found.answers, "answer")
    return f"From {read} counted here, {_ago(found.measured_until)}, and {curve.source}", {
        depth: SpeedEstimate(**asdict(gain), basis="curve")
        for depth, tokens in enumerate(found.tokens_per_round, 1)
        if (gain := curve.speedup(tokens, depth, found.drafting_ms)) is not None
    }


def _is_model(model: Model | None, planned: PlannedModel | None) -> bool:
    """Whether a planned model is the measured one: by its file, else by the names of a preset."""
    if model is None or planned is None:
        return model is None and planned is None
    preset = planned.preset
    if planned.path is not None or preset is None:
        return _is_file(model, planned.path)
    return (preset.model, preset.quantisation) == (model.name, model.quantisation)


def _is_file(model: Model, path: Path | None) -> bool:
    if path is None or model.sha256 is None or path.stat().st_size != model.file_bytes:
        return False
    return cached_facts(path, say=lambda _: None).sha256 == model.sha256


def _ago(time: str) -> str:
    """Return how long ago a time was, such as `20 minutes ago`."""
    minutes = max(1, round((datetime.now(UTC) - datetime.fromisoformat(time)).total_seconds() / 60))
    units = (("day", 1440), ("hour", 60), ("minute", 1))
    unit, size = next((x for x in units if minutes >= 2 * x[1]), units[-1])
    return f"{say.count(minutes // size, unit)} ago"
