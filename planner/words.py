"""Write an answer as sentences that are the same in terminal, comment and page."""

from collections.abc import Iterator

from planner import deciding, memory_words
from planner.acceptance import fitted, tokens_of
from planner.answer import Answer, notes_of
from planner.choices import PlanOption
from planner.engine_table import ENGINES
from planner.estimate import Accuracy
from planner.planner_errors import planner_errors
from planner.quotes import published, quoted
from planner.rounds import CURVE_ARMS, TRANSFER_ERROR
from planner.sentences import sentence
from planner.speed import SPEED_ERROR
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import METHODS, say


def lines(found: Answer) -> Iterator[str]:
    """The sentences above the commands, in reading order."""
    yield verdict(found)
    if reason := why(found):
        yield f"Why: {reason}"
    if decides := " ".join(deciding.sentences(found)):
        yield decides
    yield memory_words.fits(found)
    if notes := assumed(found):
        yield f"Assumed: {notes}"


def verdict(found: Answer) -> str:
    """The verdict, with the speed without a draft and the speed with it."""
    asked = found.asked
    return sentence(
        _case(found),
        **_heading_words(found),
        verdict="No reason to use it" if found.verdict == "No reason to" else found.verdict,
        gives="gives" if found.verdict in ("Yes", "Probably") else "may give",
        ratio=_ratio(found.judged or asked),
        before=say.rate(found.alone.tps.estimate),
        after=say.rate(asked.tps.estimate),
    )


def way(found: Answer) -> str:
    """A heading without figures: the recommended drafting method, or why none is recommended."""
    return sentence(f"{_case(found)}-heading", **_heading_words(found))


def _case(found: Answer) -> str:
    """The kind of the verdict: its name in `sentences.toml`."""
    if not found.asked.fits:
        return "no-fit"
    if found.asked.way is not None:
        return "gain"
    if found.judged is None:
        return "alone" if found.question.alone else "no-method"
    return "no-reason" if found.verdict == "No reason to" else "off"


def _heading_words(found: Answer) -> dict[str, str]:
    asked = found.asked
    if not asked.fits:
        return {"missing": memory_words.missing(asked)}
    engine = found.question.engine
    where = "" if engine == LLAMA_CPP else f" in {ENGINES[engine].label}"
    return {"way": _way(found.judged or asked), "split": _split(asked), "where": where}


def _split(option: PlanOption) -> str:
    """The quantisation, and the split of a model that is partly on the devices, as a clause."""
    preset, whole = option.target.preset, option.case.target.placed_layers
    placement, weights = option.found.placement, f", in {preset.quantisation}" if preset else ""
    if not option.case.devices or option.found.extent != "partly":
        return weights
    if placement.layers == whole:
        experts = say.count(placement.cpu_experts, "layer")
        return f"{weights}, with the experts of {experts} in main memory"
    return f"{weights}, {placement.layers} of {whole} layers on the card"


def _way(option: PlanOption) -> str:
    """The option's draft source and depth, in words."""
    way = option.way
    if way is None:
        return "no draft"
    return way.label if way.source == "text" else f"{way.label} at depth {option.depth}"


def _ratio(option: PlanOption) -> str:
    gain = option.gain
    return say.speedup(gain.estimate, gain.low, gain.high) if gain else ""


def why(found: Answer, *, whole: bool = True) -> str | None:
    """The map's figures for this card and model, and the basis of the estimate.

    Unless it is the `whole` reason, figures of other ways to draft are left out.
    """
    judged = found.judged
    if judged is None or not found.asked.fits:
        known = "; ".join(quoted(pair, found) for pair in found.figures)
        return f"on the map, {known}." if known else None  # the verdict is the reason
    own: list[str] = []
    others: list[str] = []
    for pair in found.figures:
        of_way = judged.way is not None and pair.method == judged.way.method
        (own if of_way else others).append(quoted(pair, found))
    return f"{'; '.join((*own, _expected(found, judged), *(others if whole else ())))}."


def _expected(found: Answer, judged: PlanOption) -> str:
    """The clause on the basis of the estimate for one more person."""
    way, gain = judged.way, judged.gain
    if way and way.accepted and gain and gain.basis == "acceptance":
        return sentence("by-acceptance", basis=way.accepted.basis)
    if way is not None and (way.measured or judged.figures is not None):
        return f"expected for you {_ratio(judged)}"
    if way is None or gain is None or gain.basis == "curve":
        return _by_curve(found, judged)
    method = METHODS[way.method].label
    elsewhere = [pair for pair in found.question.pairs if pair.method == way.method]
    elsewhere = [pair for pair in elsewhere if pair not in found.figures and not pair.quantisation]
    most = max(elsewhere, key=lambda pair: (pair.people, pair.device), default=None)
    if most is not None:
        return sentence("elsewhere", published=published(most), method=method, device=most.name)
    if any(pair.method == way.method for pair in found.figures):
        return sentence("similar")
    what = f"{method} with this model" if found.question.pairs else "this model"
    return sentence("nobody", what=what)


def _by_curve(found: Answer, judged: PlanOption) -> str:
    """The measured cost of a step over the draft, and a round's resulting yield and cost."""
    curve, way, gain, width = found.question.curve, judged.way, judged.gain, judged.depth + 1
    if curve is None or way is None or gain is None:
        return ""
    tokens = tokens_of(found.setup, judged.case, way, judged.depth).estimate
    cost = curve.cost(width)
    basis = way.accepted.basis if way.accepted else "the usual acceptance"
    parts = {"width": width, "cost": cost, "tokens": tokens, "steps": tokens / gain.estimate}
    return sentence("by-curve", source=curve.source, basis=basis, **parts)


def assumed(found: Answer) -> str | None:
    """The assumptions, each listed once."""
    notes = [note[:1].upper() + note[1:] for note in notes_of(found)]
    return f"{'. '.join(notes)}." if notes else None


def accuracy(found: Answer) -> str:
    """The sentence on the errors of predictions of this kind, tested on later figures."""
    judged = found.judged if found.asked.fits else None
    if judged is not None and judged.estimated:
        return _tested("tested", judged.accuracy)
    gain, way = (judged.gain, judged.way) if judged is not None else (None, None)
    if gain and gain.basis in ("here", "doubted"):
        return sentence("measured-here")
    if gain and gain.basis == "acceptance":
        return _tested("tested-acceptance", fitted().accuracy)
    if gain and way and gain.basis == "curve":
        held, arms = CURVE_ARMS
        name = "curve-tested" if way.measured or way.accepted else "curve-assumed"
        return sentence(name, held=held, arms=arms, error=say.percent(TRANSFER_ERROR))
    errors, speed = planner_errors(), ""
    if found.alone.tps.basis == "physics":
        within, points = say.percent(errors.speed.within), errors.speed.points
        speed = sentence("speed-tested", within=within, points=points, factor=SPEED_ERROR)
    return sentence("memory-tested", speed=speed, memory=errors.memory.total_median_mib)


def _tested(name: str, known: Accuracy | None) -> str:
    if known is None:
        return sentence("too-few")
    errors = {"off": known.off, "people": known.people, "figures": known.figures}
    return sentence(name, held=say.percent(known.held), **errors)
