"""Base a plan on what was measured of its model, in this machine's record.

A measured speedup comes first. Else the tokens of a round that `acceptance` counted are the
asker's acceptance.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.campaign.model import ALL_LAYERS
from harness.record.kept import KeptAcceptance, KeptCurve, device_of, is_file, is_model, recorded
from planner.answer import Answer
from planner.machines import Computer
from planner.placement import fit
from planner.question import Question
from planner.rounds import Curve
from planner.speed import Basis, SpeedEstimate
from planner.ways import OwnRounds, Way
from schemas.submission import Submission
from schemas.vocabulary import say

_OTHER_DEPTH = 1.5  # the assumed error, as a factor, of a speedup at another depth
_REACH = 1.1  # of a plain speed; a step without context and sampling is slightly faster
_MS = 1000.0

if TYPE_CHECKING:
    from harness.record.own_runs import OwnRuns


def with_own_figures(
    question: Question, depth: int | None = None, logged_tps: float | None = None
) -> Question:
    """Return the question with what was measured of its model; `depth` is the requested depth.

    `logged_tps` is the plain speed in a log that the user gave.

    The record does not count for a described machine.
    """
    runs = None
    found = [] if question.computer.described else recorded(Submission)
    if listed := [
        (f"here, {_ago(run.measured_until)}", run)
        for run in found
        if is_model(run.target, question.target)
    ]:
        from harness.record.own_runs import OwnRuns  # noqa: PLC0415 - slow, and few have results

        runs = OwnRuns(question, listed)
    ways = tuple(_known(way, question, runs, depth) for way in question.ways)
    named = (new for old, new in zip(question.ways, ways, strict=True) if old is question.named)
    question = replace(question, ways=ways, named=next(named, None))
    run_tps = logged_tps or (runs.plain_tps if runs else None)
    tps = run_tps or (_MS / question.curve.step_ms if question.curve else None)
    if tps is None or not fit(question.load).fits_whole:
        return question
    basis: Basis = "here" if run_tps else "curve"
    plain = SpeedEstimate(estimate=tps, low=tps / _REACH, high=tps * _REACH, basis=basis)
    return replace(question, plain=plain)


def lines(found: Answer) -> Iterator[str]:
    """Yield a sentence on each way to draft that was measured here, the best first."""
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
        if whole and (on_cpu, curve.device) == here and is_file(curve.model, path):
            return curve.curve
    return None


def _known(way: Way, question: Question, runs: "OwnRuns | None", depth: int | None) -> Way:
    """Return a way to draft with its measured speedups, else its counted tokens, if there are any.

    Another depth that is requested gets the speedup of the nearest one, with a wider interval. A
    requested acceptance counts instead.
    """
    if way.accepted is not None:
        return way
    basis, gains, tokens = (runs and runs.speedups(way)) or ("", {}, {})
    if not gains:
        own = _own_rounds(way, question)
        return replace(
            way, depths=tuple(own.tokens) if own and not depth else way.depths, accepted=own
        )
    if depth is not None:
        nearest = min(gains, key=lambda each: abs(each - depth))
        gain, error = gains[nearest], 1.0
        if nearest != depth:
            basis, error = f"{basis}, at depth {nearest} instead of {depth}", _OTHER_DEPTH
        gains = {depth: replace(gain, low=gain.low / error, high=gain.high * error)}
    own = OwnRounds.stated(tokens, "the acceptance measured here") if tokens else None
    return replace(way, depths=tuple(sorted(gains)), measured=gains, accepted=own, basis=basis)


def _own_rounds(way: Way, question: Question) -> OwnRounds | None:
    """Return the newest tokens of a round that were counted of these models on this machine."""
    if question.computer.described or way.draft is None:
        return None
    device = device_of(question.computer)
    for found in recorded(KeptAcceptance):
        models = ((found.model, question.target), (found.draft, way.draft))
        if found.device == device and all(is_model(*each) for each in models):
            read = say.count(found.answers, "answer")
            return OwnRounds(
                tokens=dict(enumerate(found.tokens_per_round, 1)),
                basis=f"the acceptance of {read} counted here, {_ago(found.measured_until)}",
                drafting_ms=found.drafting_ms,
            )
    return None


def _ago(time: str) -> str:
    """Return how long ago a time was, such as `20 minutes ago`."""
    minutes = max(1, round((datetime.now(UTC) - datetime.fromisoformat(time)).total_seconds() / 60))
    units = (("day", 1440), ("hour", 60), ("minute", 1))
    unit, size = next((x for x in units if minutes >= 2 * x[1]), units[-1])
    return f"{say.count(minutes // size, unit)} ago"
