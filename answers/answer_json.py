"""An answer as the object that `plan --json` prints."""

from answers.advice import RANKS, verdict_of
from answers.answer import Answer
from answers.choices import PlanOption
from answers.evidence import PairFigure
from answers.model import Buffers
from answers.speed import SpeedEstimate
from schemas.codec import Json, encode

_AS_IN_PAIRS = (
    *("device", "target", "method", "tier", "people", "speedup", "least", "most"),
    *("baseline_tps", "tps", "rated", "depths", "quantisations"),
)


def as_json(answer: Answer) -> Json:
    """The part of the answer that programs read; its keys are fixed."""
    found, command = answer.asked.found, answer.command
    devices: list[Json] = [
        _place(memory.name, memory.free_mib, buffers)
        for memory, buffers in zip(answer.asked.case.devices, found.devices, strict=False)
    ]
    host = answer.asked.case.host
    best = answer.best.speculation
    notes = (command.note,) if command and command.note else ()
    recommended: Json = None  # `None` if no way of drafting helps
    if best is not None and RANKS[verdict_of(answer.best)[0]] >= RANKS["Try it"]:
        draft = answer.best.draft_name or None
        recommended = {"method": best.method, "depth": best.depth, "draft": draft}
    return {
        "verdict": answer.verdict,
        "chance": None if answer.chance is None else round(answer.chance, 3),
        "evidence": [*map(evidence_of, answer.figures)],
        "devices": devices,
        "host": _place(host.name, host.free_mib, found.host),
        "layers": answer.asked.case.target.placed_layers,
        "offloaded_layers": found.placement.layers,
        "context_max": answer.context_max,
        "plain_tps": _estimate(answer.alone.tps),
        "speedup": _estimate(answer.speedup) if answer.speedup else None,
        "accuracy": _accuracy(answer),
        "curve": _curve(answer),
        "recommended": recommended,
        "alternatives": [_alternative(each) for each in answer.alternatives],
        "command": command.text if command else None,
        "warnings": [*answer.warnings, *notes],
    }


def evidence_of(pair: PairFigure) -> Json:
    """A figure of the map under the names of the data file `pairs.json`."""
    return {name: encode(getattr(pair, name)) for name in _AS_IN_PAIRS}


def _place(name: str, free_mib: float, buffers: Buffers) -> Json:
    kinds: dict[str, Json] = {key: round(mib, 2) for key, mib in buffers.by_kind().items()}
    return {"name": name, "free_mib": round(free_mib, 1), "buffers_mib": kinds}


def _estimate(value: SpeedEstimate) -> Json:
    return {
        "estimate": round(value.estimate, 3),
        "low": round(value.low, 3),
        "high": round(value.high, 3),
        "basis": value.basis,
    }


def _accuracy(answer: Answer) -> Json:
    """The errors of predictions of this kind, tested on figures that came later."""
    judged = answer.judged
    found = judged.predicted.accuracy if judged and judged.predicted else None
    return encode(found) if found else None


def _curve(answer: Answer) -> Json:
    """The measured curve, and whether the speedup is computed from it; `None` without a curve."""
    judged, curve = answer.judged, answer.question.curve
    if curve is None:
        return None
    probe = curve.probe
    costs: list[Json] = [round(ms / curve.step_ms, 3) for ms in probe.step_ms_median]
    used = bool(judged and judged.predicted and judged.predicted.curve)
    return {
        "source": curve.source,
        "used": used,
        "widths": [*probe.widths],
        "costs": costs,
    }


def _alternative(choice: PlanOption) -> Json:
    command = choice.command
    return {
        "changes": choice.changes,
        "tps": round(choice.tps.estimate, 2),
        "fits": choice.fits,
        "command": command.text if command else None,
    }
