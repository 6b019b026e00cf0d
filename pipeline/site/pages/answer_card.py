"""Write the text of answer cards, for the data files that scripts load and for full pages."""

from collections.abc import Mapping, Sequence
from operator import itemgetter

import msgspec
from msgspec.structs import asdict, replace

from pipeline.site.pages.shown_commands import line_of
from pipeline.site.pages.strips import position
from planner.answer import Answer
from planner.choices import PlanOption
from planner.deciding import Deciding, deciding, sentences, usual
from planner.measure import measure_words
from planner.memory_words import fits
from planner.words import accuracy, why
from planner.words import way as way_of
from schemas.vocabulary import METHODS, say

CLEAR = 1.05  # a factor beyond this has a direction
DIGITS = 2
MOST_OTHERS = 2  # ways to draft that a card names beside the recommended one


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """The text of an answer, without figures; a file of answers stores equal strings only once."""

    support: str = ""
    look: str = ""
    accuracy: str | None = ""
    why: str | None = ""
    others: str | None = ""
    note: str | None = ""
    way: str = ""
    use: str | None = ""
    measure: str | None = ""
    usual: str | None = ""
    room: str | None = ""


class Card(Words, frozen=True, kw_only=True):
    """The values that `answer.html.jinja` shows for an answer; the defaults make an empty card."""

    asked: str = ""
    model: str = ""
    address: str | None = None
    verdict: str = ""
    before: str = ""
    after: str = ""
    speedup: str = ""
    range: str = ""
    decides: tuple[str, ...] = ()
    strip: Mapping[str, float] = msgspec.field(default_factory=lambda: strip(1, 1, 1))
    dots: Sequence[float] = (0,)

    @property
    def grade(self) -> str:
        """The letter of `grades.toml`, with which the classes end."""
        return self.look[-1:]


def words_of(found: Answer, known: Deciding | None) -> Words:
    """The text of an answer; `known` is what decides about it."""
    command, room = found.command, fits(found)
    measured = measure_words(found) if found.best.fits else None
    return Words(
        look=_look(found),
        way=way_of(found),
        support=_evidence(found.judged, found.chance),
        why=why(found, whole=False),
        others=others(found),
        accuracy=accuracy(found),
        room=room[:1].lower() + room[1:],
        use=command.text if command else None,
        note=command.note if command else None,
        measure=line_of(measured) if measured else None,
        usual=usual(known) if known else None,
    )


def card_of(
    found: Answer, *, machine: str, model: str, address: str | None, dots: Sequence[float] = ()
) -> Card:
    """The card for an answer about a machine and a model, with people's speedups as `dots`.

    `address` is the model's page, if there is one.
    """
    judged = found.judged
    gain = judged.gain if judged and found.asked.fits else None
    card = Card(
        **asdict(words_of(found, deciding(found))),
        asked=machine,
        model=model,
        address=address,
        verdict=found.verdict,
        before=say.rate(found.alone.tps.estimate) if found.asked.fits else "",
    )
    if gain is None or judged is None:
        return card
    return replace(
        card,
        after=say.rate(judged.tps.estimate),
        speedup=say.times(gain.estimate),
        range=f"{gain.low:.2f} to {say.times(gain.high)}",
        decides=sentences(found),
        strip=strip(gain.estimate, gain.low, gain.high),
        dots=[position(each, DIGITS) for each in dots],
    )


def others(found: Answer) -> str | None:
    """The other ways to draft: what people got with them here, then what is expected of the rest.

    `None` if the model does not fit, or if there is no other way.
    """
    judged = found.judged
    if judged is None or judged.way is None or not found.asked.fits:
        return None
    words = {judged.way.method: ""}
    for pair in found.figures:
        figure = f"{say.times(pair.speedup)} ({say.count(pair.people, 'person')})"
        words.setdefault(pair.method, f"{METHODS[pair.method].label} {figure}")
    rest = [(round(x.gain.estimate, 1), x.way) for x in found.options if x.gain and x.way]
    for estimate, way in sorted(rest, key=itemgetter(0), reverse=True):
        expected = f"about {estimate:.1f}{say.TIMES}"
        text = "only for text that repeats" if way.source == "text" else expected
        words.setdefault(way.method, f"{METHODS[way.method].label} {text}")
    named = [text for text in words.values() if text][:MOST_OTHERS]
    return " \N{MIDDLE DOT} ".join(named) or None


def strip(speedup: float, low: float, high: float) -> Mapping[str, float]:
    """The positions of 1, the speedup and its interval, in percent of the axis.

    They are those of the printed figures, which the files of answers have.
    """
    printed = (1.0, *(round(each, DIGITS) for each in (speedup, low, high)))
    even, at, left, right = (position(each, DIGITS) for each in printed)
    return {"even": even, "at": at, "low": left, "width": round(right - left, DIGITS)}


def _look(found: Answer) -> str:
    """The CSS classes: one for a gain, a loss or neither, and one for the grade of the evidence.

    Grades are those of `grades.toml`.
    """
    judged = found.judged
    speedup = judged.gain.estimate if judged and judged.gain else 1.0
    if not found.asked.fits or speedup < 1 / CLEAR:
        tone = "loss"
    else:
        tone = "gain" if speedup > CLEAR else "flat"
    return f"dm-answer--{tone} dm-answer--{_grade(judged)}"


def _grade(judged: PlanOption | None) -> str:
    figures = judged.figures if judged else None
    if figures is None:
        return "D"
    if figures.tier != "published":
        return "A"
    return "B" if figures.people > 1 else "C"


def _evidence(judged: PlanOption | None, chance: float | None) -> str:
    """The basis of the estimate, and the chance of a gain."""
    figures = judged.figures if judged else None
    basis = "predicted"
    if figures is not None and figures.tier != "published":
        basis = f"{figures.tier} here, with raw trials"
    elif figures is not None:
        who = "one person" if figures.people == 1 else f"{figures.people} people"
        basis = f"expected from {who} here and from similar settings"
    return basis if chance is None else f"{basis}, {say.percent(chance)} chance of a gain"
