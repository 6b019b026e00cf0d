"""Base a plan on what was measured of its model: in this machine's record or in named results.

A measured speedup comes first. Else, if a draft's accepted tokens were counted and the target's
steps were timed, the two give the speedup by depth that `acceptance` prints.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import geometric_mean
from typing import TypeAlias

from msgspec.structs import asdict, replace

from answers.answer import Answer
from answers.machines import Computer, device_key
from answers.names import card_key
from answers.placement import fit
from answers.question import Question
from answers.rates import is_processor
from answers.rounds import Curve, chance_of, of_counts
from answers.speed import Basis, SpeedEstimate
from answers.ways import PlannedModel, Way
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
from schemas.method import DRAFT_MODEL
from schemas.submission import Model, Submission
from schemas.vocabulary import say

# The assumed error, as a factor, of a speedup over a single prompt or at another depth.
_UNKNOWN_ERROR = 1.5
_REACH = 1.1  # of a plain speed; a step without context and sampling is slightly faster
_USUAL_DEPTH = 4  # the acceptance at this depth stands for all if no step was timed
_NAMED = 3  # doubts that are named
_MS = 1000.0
OwnRun: TypeAlias = tuple[str, Submission, Summary]  # when and where it was measured comes first


def with_own_figures(
    question: Question, files: Iterable[Path], depth: int | None = None
) -> Question:
    """Return the question with what was measured of its model; `depth` is the requested depth.

    The record does not count for a described machine. Raises `BadInputError` if a file is not a
    result.
    """
    runs = [*_runs(question, files)]
    ways = tuple(_known(way, question, runs, depth) for way in question.ways)
    named = (new for old, new in zip(question.ways, ways, strict=True) if old is question.named)
    question = replace(question, ways=ways, named=next(named, None))
    step_tps = _MS / question.curve.step_ms if question.curve else None
    measured_tps = next(filter(None, (plain_tps(run) for _, run, _ in runs)), None)
    tps = measured_tps or step_tps
    if tps is None or not fit(question.load).fits_whole:  # a step reads one memory only
        return question
    basis: Basis = "here" if measured_tps else "curve"
    plain = SpeedEstimate(estimate=tps, low=tps / _REACH, high=tps * _REACH, basis=basis)
    fixed = question.layers is not None or question.cpu_experts is not None
    return replace(question, plain=None if fixed else plain)


def lines(found: Answer) -> Iterator[str]:
    """Yield a sentence on each way to draft that was measured or counted here, the best first."""
    for each in sorted(found.options, key=lambda each: -each.tps.estimate):
        if each.way and each.way.basis and each.gain:
            basis, gain, depth = each.way.basis, each.gain, each.depth
            yield (
                f"{basis[:1].upper()}{basis[1:]}: {each.way.label} at depth {depth} gives "
                f"{say.speedup(gain.estimate, gain.low, gain.high)}, "
                f"{say.rate(each.tps.estimate)} tokens/s instead of "
                f"{say.rate(found.alone.tps.estimate)}."
            )


def kept_for(path: Path, computer: Computer) -> Curve | None:
    """Return the newest curve of a model file that was entirely on the GPUs, or on the CPU."""
    here = (not computer.devices, device_of(computer))
    for curve in recorded(KeptCurve):
        on_cpu = curve.engine.backend == "cpu"
        whole = curve.is_whole and (on_cpu or curve.gpu_layers == ALL_LAYERS)
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


def _measured(
    way: Way, question: Question, runs: Sequence[OwnRun]
) -> tuple[str, dict[int, SpeedEstimate]]:
    """Return the speedups by depth of the first run that has any for a way to draft."""
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
            names: list[str] = [each.verdict for each in own if each.verdict == "slower-in-all"]
            names += [flag.name for flag in summary.flags if flag.severity != "note"]
            doubts = [*dict.fromkeys(names)][:_NAMED]
            return f"measured {when}{f' (doubts: {say.listed(doubts)})' if doubts else ''}", known
    return "", {}


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

    It is that on the asked task, else over all tasks, else the mean of the tasks' speedups.
    """
    whole = [found.whole] if found.whole.speedup else found.tasks
    own = [each for each in found.tasks if each.task == task] or whole
    if not own or found.verdict in ("failed", "never-drafted"):
        return None
    choices = found.choices if own == [found.whole] else found.task_choices
    ratios = [each.speedup or 1.0 for each in own]
    intervals = [corrected_estimate(each, choices) for each in own]
    low, high = min(ratios) / _UNKNOWN_ERROR, max(ratios) * _UNKNOWN_ERROR
    if (known := [each for each in intervals if each is not None]) and len(known) == len(own):
        low, high = min(each.low for each in known), max(each.high for each in known)
    doubted = {"uncertain", "slower-in-all"} & {found.verdict, *(each.verdict for each in own)}
    basis: Basis = "doubted" if doubted else "here"
    return SpeedEstimate(estimate=geometric_mean(ratios), low=low, high=high, basis=basis)


def _known(way: Way, question: Question, runs: Sequence[OwnRun], depth: int | None) -> Way:
    """Return a way to draft with its measured speedups, else with computed ones, if there are any.

    Another depth that is requested gets the speedup of the nearest one, with a wider interval. A
    requested acceptance counts instead.
    """
    if way.acceptance is not None:
        return way
    source, gains = _measured(way, question, runs)
    if not gains and (counts := _counts(way, question)) is not None:
        read, ago = say.count(counts.answers, "answer"), _ago(counts.measured_until)
        source = f"from {read} counted here, {ago}, and "
        if question.curve is None:
            usual = min(_USUAL_DEPTH, len(counts.tokens_per_round))
            accepted = chance_of(counts.tokens_per_round[usual - 1].estimate, usual)
            return replace(way, acceptance=accepted, basis=f"{source}the usual cost of wider steps")
        source, gains = f"{source}{question.curve.source}", _computed(counts, question.curve)
    if depth is not None and gains and depth not in gains:
        nearest = min(gains, key=lambda each: abs(each - depth))
        gain, source = gains[nearest], f"{source}, at depth {nearest} instead of {depth}"
        low, high = gain.low / _UNKNOWN_ERROR, gain.high * _UNKNOWN_ERROR
        gains = {depth: replace(gain, low=low, high=high)}
    if not gains:
        return way
    gains = {depth: gains[depth]} if depth is not None else gains
    return replace(way, depths=tuple(sorted(gains)), measured=gains, basis=source)


def _counts(way: Way, question: Question) -> KeptAcceptance | None:
    """Return the newest counts of accepted tokens of a draft model here."""
    if question.computer.described or way.method != DRAFT_MODEL:
        return None
    here = device_of(question.computer)
    for found in recorded(KeptAcceptance):
        same = _is_model(found.model, question.target) and _is_model(found.draft, way.draft)
        if same and found.device == here:
            return found
    return None


def _computed(counts: KeptAcceptance, curve: Curve) -> dict[int, SpeedEstimate]:
    """Return the speedups by depth that counted tokens and measured steps give."""
    share = counts.drafting_ms / curve.step_ms
    gains = {
        depth: of_counts(tokens, cost + depth * share)
        for depth, tokens in enumerate(counts.tokens_per_round, 1)
        if (cost := curve.cost(depth + 1)) is not None
    }
    return {depth: SpeedEstimate(**asdict(x), basis="curve") for depth, x in gains.items()}


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
