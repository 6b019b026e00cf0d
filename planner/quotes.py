"""Quote a figure of the map in an answer, as the map prints it."""

from planner.answer import Answer
from planner.evidence import PairFigure
from schemas.vocabulary import METHODS, say


def quoted(pair: PairFigure, found: Answer) -> str:
    """The clause that quotes a figure of the map, as the map prints it.

    Engines are named if none of them is llama.cpp, for which the commands are.
    """
    ends = sorted({min(pair.depths), max(pair.depths)}) if pair.depths else []
    depths = f" at depth {chr(0x2013).join(map(str, ends))}" if ends else ""
    others = [each for each in pair.engines if not each.lower().startswith("llama.cpp")]
    engines = f" in {say.listed(others)}" if others and len(others) == len(pair.engines) else ""
    first = next(each for each in found.figures if each.method == pair.method)
    variant = f" for {pair.target_name}" if pair.target != first.target else ""
    there = " with a part of the model in main memory" if pair.offload else ""
    if not pair.offload and found.judged is not None and not found.judged.found.fits_whole:
        there = " (layers on the card not stated)"
    narrower = "".join(
        f"; with {same.quantisation}, {_who(same)}: {say.times(same.speedup)}"
        for same in found.question.pairs
        if (same.device, same.method) == (pair.device, pair.method)
        if same.quantisation and same.quantisation == found.question.quantisation
        if len(pair.quantisations) > 1
    )
    return (
        f"{published(pair)} for this card and model with {METHODS[pair.method].label}{depths}"
        f"{engines}{variant}{_rates(pair)}{there}{narrower}"
    )


def published(pair: PairFigure) -> str:
    verb = "published" if pair.tier == "published" else "measured"
    spread = f" ({pair.least:.2f}\N{EN DASH}{pair.most:.2f})" if pair.people > 1 else ""
    text = " with English text" if pair.tier == "measured" else ""
    return f"{_who(pair)} {verb} {say.times(pair.speedup)}{spread}{text}"


def _who(pair: PairFigure) -> str:
    return "one person" if pair.people == 1 else f"{pair.people} people"


def _rates(pair: PairFigure) -> str:
    if pair.tps is None:
        return ""
    about = "about " if pair.people > 1 else ""
    some = f" (rates of {pair.rated})" if pair.rated < pair.people else ""
    arrow = "\N{RIGHTWARDS ARROW}"
    return f", {about}{say.rate(pair.baseline_tps)} {arrow} {say.rate(pair.tps)} tokens/s{some}"
