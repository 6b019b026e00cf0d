"""An answer as the object that `plan --json` prints."""

from msgspec import to_builtins

from planner.answer import Answer, notes_of
from planner.deciding import deciding
from planner.evidence import PairFigure
from planner.memory_words import expert_cache
from planner.model import Buffers, Memory
from planner.rounds import Curve
from planner.speed import SpeedEstimate
from schemas.codec import Json, encode

_AS_IN_PAIRS = (
    *("device", "target", "method", "tier", "people", "speedup", "least", "most"),
    *("baseline_tps", "tps", "rated", "depths", "quantisations"),
)


def as_json(answer: Answer) -> Json:
    """The part of the answer that programs read; its keys are fixed."""
    asked, command, curve = answer.asked, answer.command, answer.question.curve
    case, judged = asked.case, answer.judged
    notes = (command.note,) if command and command.note else ()
    return {
        "verdict": answer.verdict,
        "chance": None if answer.chance is None else round(answer.chance, 3),
        "evidence": [*map(evidence_of, answer.figures)],
        "devices": [*map(_place, case.devices, asked.found.devices)],
        "host": _place(case.host, asked.found.host),
        "layers": case.target.placed_layers,
        "offloaded_layers": asked.found.placement.layers,
        "context_max": answer.context_max,
        "plain_tps": _estimate(answer.alone.tps),
        "speedup": _estimate(asked.gain) if asked.gain else None,
        "accuracy": encode(judged.accuracy) if judged and judged.accuracy else None,
        "decides": _decides(answer),
        "curve": _curve(curve, answer) if curve else None,
        "recommended": _recommended(answer),
        "alternatives": [
            {
                "changes": each.changes,
                "tps": round(each.tps.estimate, 2),
                "fits": each.fits,
                "command": each.command.text if each.command else None,
            }
            for each in answer.alternatives
        ],
        "command": command.text if command else None,
        "warnings": [*notes_of(answer), *expert_cache(answer.best), *notes],
    }


def evidence_of(pair: PairFigure) -> Json:
    """A figure of the map under the names of the data file `pairs.json`, to six digits."""
    values = ((name, getattr(pair, name)) for name in _AS_IN_PAIRS)
    return {
        name: float(f"{value:.6g}") if isinstance(value, float) else encode(value)
        for name, value in values
    }


def _place(memory: Memory, buffers: Buffers) -> Json:
    kinds: dict[str, Json] = {key: round(mib, 2) for key, mib in buffers.by_kind().items()}
    return {"name": memory.name, "free_mib": round(memory.free_mib, 1), "buffers_mib": kinds}


def _estimate(value: SpeedEstimate) -> Json:
    ends = {name: round(getattr(value, name), 3) for name in ("estimate", "low", "high")}
    return {**ends, "basis": value.basis}


def _curve(curve: Curve, answer: Answer) -> Json:
    """The measured curve, and whether the speedup is computed from it."""
    gain = answer.judged.gain if answer.judged else None
    return {
        "source": curve.source,
        "used": gain is not None and gain.basis == "curve",
        "widths": [*curve.probe.widths],
        "costs": [round(ms / curve.step_ms, 3) for ms in curve.probe.step_ms_median],
    }


def _decides(answer: Answer) -> Json:
    """The cost of a round and what follows from it; `None` without a draft in each round."""
    known = deciding(answer)
    if known is None:
        return None
    found: dict[str, Json] = {**to_builtins(known), "even": known.even}
    rounded = {name: round(x, 3) if isinstance(x, float) else x for name, x in found.items()}
    gains: Json = {f"{share:g}": round(gain, 3) for share, gain in known.strip.items()}
    return {**rounded, "gains": gains}


def _recommended(answer: Answer) -> Json:
    """The way that the printed command uses; `None` if no way of drafting helps."""
    best = answer.best
    if best.way is None:
        return None
    return {"method": best.way.method, "depth": best.depth, "draft": best.way.name or None}
