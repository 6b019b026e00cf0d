"""Write an answer as sentences that are the same in terminal, comment and page."""

from collections.abc import Iterator

import msgspec

from answers import memory_words
from answers.answer import Answer, notes_of
from answers.choices import PlanOption
from answers.curves import CURVE_ARMS, TRANSFER_ERROR, Curve
from answers.estimate import Accuracy
from answers.learned import learned, logged_memory_error
from answers.quotes import published, quoted
from answers.rounds import tokens_per_round
from answers.speed import NEAREST_ERROR
from schemas.vocabulary import METHODS, say

_ABOUT_EVEN, _CLEARLY_FASTER = 0.99, 1.05
_ESTIMATED = ("measured", "imported", "published", "predicted")
_MOST_LOSSES = 2  # ways of drafting that are named in the sentence


class Sentences(msgspec.Struct, frozen=True, kw_only=True):
    """The sentences of an answer in reading order; `None` for a sentence that does not apply.

    `why`, `losses` and `assumed` have no label.
    """

    verdict: str
    why: str | None
    losses: str | None
    fits: str
    assumed: str | None
    instead: str | None
    accuracy: str

    def lines(self) -> Iterator[str]:
        """The sentences above the commands."""
        yield self.verdict
        if self.why:
            yield f"Why: {self.why}"
        if self.losses:
            yield f"Slower: {self.losses}"
        yield self.fits
        if self.assumed:
            yield f"Assumed: {self.assumed}"


def sentences(found: Answer) -> Sentences:
    """All sentences of an answer, without its commands."""
    return Sentences(
        verdict=verdict(found),
        why=_why(found),
        losses=_losses(found),
        fits=memory_words.fits(found),
        assumed=_assumed(found),
        instead=_instead(found),
        accuracy=_accuracy(found),
    )


def verdict(found: Answer) -> str:
    """The verdict, with the speed without a draft and the speed with it."""
    asked, judged = found.asked, found.judged
    before = f"about {say.rate(found.alone.tps.estimate)} tokens/s"
    if not asked.fits:
        return f"No: the model does not fit{memory_words.missing(asked)}."
    if asked.gain is None and found.question.alone:
        return f"Without a draft, expect {before}."
    if asked.gain is not None:
        verb = "gives" if found.verdict in ("Yes", "Probably") else "may give"
        after = say.rate(asked.tps.estimate)
        verdict = "No reason to use it" if found.verdict == "No reason to" else found.verdict
        return (
            f"{verdict}: {_way(asked)} {verb} about {after} tokens/s instead of "
            f"{say.rate(found.alone.tps.estimate)}: {_ratio(asked)}{_split(asked)}."
        )
    if judged is None or judged.gain is None:
        return (
            f"No: no known method can draft for this model; without speculation it writes "
            f"{before}{_split(asked)}."
        )
    if found.verdict == "No reason to":
        return (
            f"No reason to use speculation: expect {before} without it{_split(asked)}; "
            f"{_way(judged)} gives {_ratio(judged)}."
        )
    way = f"{_way(judged)} gives {_ratio(judged)}"
    return f"{found.verdict}: leave speculation off and expect {before}{_split(asked)}; {way}."


def way(found: Answer) -> str:
    """A heading without figures: the recommended drafting method, or why none is recommended."""
    asked, judged = found.asked, found.judged
    if not asked.fits:
        return f"the model does not fit{memory_words.missing(asked)}"
    if asked.gain is not None:
        return f"{_way(asked)}{_split(asked)}"
    if judged is None or judged.gain is None:
        return f"no known method can draft for this model{_split(asked)}"
    if found.verdict == "No reason to":
        return f"no clear gain from {_way(judged)}{_split(asked)}"
    return f"leave speculation off; tried: {_way(judged)}{_split(asked)}"


def _split(choice: PlanOption) -> str:
    """The quantisation, and the split of a model that is partly on the devices, as a clause."""
    preset, whole = choice.target.preset, choice.case.target.placed_layers
    placement, weights = choice.found.placement, f", in {preset.quantisation}" if preset else ""
    if not choice.case.devices or choice.found.extent != "partly":
        return weights
    if placement.layers == whole:
        experts = say.count(placement.cpu_experts, "layer")
        return f"{weights}, with the experts of {experts} in main memory"
    return f"{weights}, {placement.layers} of {whole} layers on the card"


def _way(choice: PlanOption) -> str:
    """The option's draft source and depth, in words."""
    drafts = choice.speculation
    if drafts is None:
        return "no draft"
    if drafts.source == "text":
        return f"drafting from text that repeats the prompt ({drafts.method})"
    what = {"own-head": "its own head (MTP)", "model": f"the draft {choice.draft_name}"}
    file = f" ({choice.draft_name})" if choice.draft_name else ""
    name = what.get(drafts.source) if file or choice.draft is None else None
    return f"{name or drafts.method + file} at depth {drafts.depth}"


def _ratio(choice: PlanOption) -> str:
    gain = choice.gain
    return say.speedup(gain.estimate, gain.low, gain.high) if gain else ""


def _why(found: Answer) -> str | None:
    """The map's figures for this card and model, and the basis of the estimate."""
    judged = found.judged
    if judged is None or judged.speculation is None or not found.asked.fits:
        known = "; ".join(quoted(pair, found) for pair in found.figures)
        return f"on the map, {known}." if known else None  # the verdict is the reason
    method = judged.speculation.method
    own = [quoted(pair, found) for pair in found.figures if pair.method == method]
    others = [quoted(pair, found) for pair in found.figures if pair.method != method]
    return f"{'; '.join((*own, _expected(found, judged), *others))}."


def _expected(found: Answer, judged: PlanOption) -> str:
    """The clause on the basis of the estimate for one more person."""
    curve = judged.predicted.curve if judged.predicted else None
    if curve is not None:
        return _by_curve(curve, judged)
    if judged.figures is not None or (judged.way and judged.way.measured):
        return f"expected for you {_ratio(judged)}"
    if judged.speculation is None or judged.speculation.acceptance is not None:
        return "computed from the acceptance"
    method = METHODS[judged.speculation.method].label
    elsewhere = [pair for pair in found.question.pairs if pair.method == judged.speculation.method]
    elsewhere = [pair for pair in elsewhere if pair not in found.figures and not pair.quantisation]
    most = max(elsewhere, key=lambda pair: (pair.people, pair.device), default=None)
    if most is not None:
        return f"predicted; {published(most)} with {method} on {most.name}"
    what = method if found.question.pairs else "a result"
    return f"predicted from similar settings; nobody has published {what} with this model"


def _by_curve(curve: Curve, judged: PlanOption) -> str:
    """The measured cost of a step over the draft, and a round's resulting yield and cost."""
    speculation, gain = judged.speculation, judged.gain
    if speculation is None or gain is None:
        return ""
    yielded = tokens_per_round(speculation.chances()[1], speculation.depth)
    return (
        f"according to {curve.source}, a step over {speculation.depth + 1} tokens takes as long as "
        f"{curve.cost(speculation.depth + 1):.2f} plain steps; a round produces about "
        f"{yielded:.1f} tokens in the time of {yielded / gain.estimate:.1f} plain steps"
    )


def _losses(found: Answer) -> str | None:
    """The ways of drafting that are expected to lose; those with figures of this card first."""
    lost = [
        each
        for each in found.options
        if found.asked.fits and each is not found.judged and each.gain
        if each.gain.estimate < _ABOUT_EVEN
    ]
    lost.sort(key=lambda each: each.figures is None)
    known = sum(each.figures is not None for each in lost)
    named = [_loss(each) for each in lost[: min(max(known, 1), _MOST_LOSSES)]]
    more = [f"{len(lost) - len(named)} more"] if len(lost) > len(named) else []
    return f"{say.listed([*named, *more])}." if lost else None


def _loss(choice: PlanOption) -> str:
    return f"{_way(choice)} ({say.times(choice.gain.estimate if choice.gain else None)} expected)"


def _assumed(found: Answer) -> str | None:
    """The assumptions, each listed once."""
    reads_host = "host" in (*found.alone.tps.assumes, *found.asked.tps.assumes)
    rates = found.question.computer.rate_notes()
    unread = [note for memory, note in rates if memory == "host" and not reads_host]
    notes = [note[:1].upper() + note[1:] for note in notes_of(found) if note not in unread]
    return f"{'. '.join(notes)}." if notes else None


def _instead(found: Answer) -> str | None:
    """The sentence on a faster use of the same memory, if there is one."""
    asked, target = found.asked, found.asked.case.target
    crowded = not asked.fits or asked.found.placement.layers < target.placed_layers
    others = [
        each
        for each in found.alternatives
        if each.found.sure and each.speculation is None
        if each.case.setting.context == asked.case.setting.context
        if crowded or each.case.target is not target
    ]
    better = max(others, key=lambda each: each.tps.estimate, default=None)
    least = asked.tps.estimate * _CLEARLY_FASTER if asked.fits else 0.0
    if better is None or better.tps.estimate <= least:
        return None
    changes = ", ".join(better.parts[1:] or better.parts)
    return f"Faster without a draft: {changes}, about {say.rate(better.tps.estimate)} tokens/s."


def _accuracy(found: Answer) -> str:
    """The sentence on the errors of predictions of this kind, tested on later figures."""
    judged = found.judged
    estimated = judged is not None and judged.gain is not None and judged.gain.basis in _ESTIMATED
    if judged is not None and judged.predicted is not None and estimated and found.asked.fits:
        return _tested(judged.predicted.accuracy)
    if judged is not None and judged.predicted is not None and judged.predicted.curve:
        held, arms = CURVE_ARMS
        return (
            f"Accuracy: {held} of {arms} measured speedups were within "
            f"{say.percent(TRANSFER_ERROR)} of the value computed from a verification curve and "
            "the counted tokens per round."
        )
    errors = learned().errors
    speed = errors.speed if found.alone.tps.basis != "physics" else errors.bare
    memory = logged_memory_error()
    words = (
        f"device memory had a median error of {memory.total_median_mib:.0f} MiB over public logs"
    )
    if speed is not None:
        words = (
            f"{say.percent(speed.within)} of {speed.points} predicted plain speeds were within a "
            f"factor of {NEAREST_ERROR:g}; {words}"
        )
    return f"Accuracy: {words}."


def _tested(accuracy: Accuracy | None) -> str:
    """The errors of a kind of prediction on figures that came later."""
    if accuracy is None:
        return "Accuracy: too few people tried such a method to tell."
    return (
        f"Accuracy: predictions of this kind were off by a factor of {accuracy.off:.2f} in the "
        f"median over {accuracy.people} people; {say.percent(accuracy.held)} of their "
        f"{accuracy.figures} figures, published later, were inside such intervals."
    )
