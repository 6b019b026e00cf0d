"""Read the acceptance and the plain speed from logs or from servers' answers, for `plan`.

Counts and speeds come from the same sources as on the page "Why is it slower?" (`serverlog.js`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from harness.errors import BadInputError
from harness.imports.forms import Found, repeats
from harness.imports.json_values import MS_PER_S
from harness.imports.one_run import require_one_run, used
from harness.imports.printed import stated
from harness.imports.source_files import given, wrong

# Where counts are, the best source first; the figure that distinguishes sums since a start.
_SOURCES = ("request", "series", "run", "total", "interval")
_SUMS = {"series": "series", "total": "engine"}
_ROUNDED = 0.25  # a last, shorter draft makes the mean length a little shorter than the depth
_BUSY = 0.5  # of the highest speed: a lower one is the start or end of a request


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRun:
    """The statements of a text about one run; `depth` is the mean length of its drafts."""

    name: str
    share: float | None = None
    tokens: float | None = None
    depth: int | None = None
    tps: float | None = None

    @property
    def drafts(self) -> bool:
        return self.share is not None or (self.tokens or 1.0) > 1


def read(paths: Sequence[Path]) -> tuple[LoggedRun, float | None]:
    """The run with drafts in one or two texts, and the plain speed of the other, if there is one.

    Raises `BadInputError` if no text or more than one states accepted drafts.
    """
    runs = [_run(path) for path in paths]
    drafting = [run for run in runs if run.drafts]
    plain = [run.tps for run in runs if not run.drafts and run.tps]
    if len(drafting) != 1 or len(runs) > 2:  # noqa: PLR2004 - with and without drafts
        names = " and ".join(run.name for run in runs)
        found = "none states" if not drafting else "several state"
        raise BadInputError(
            f"{names}: {found} accepted drafts; give the log of one run with speculation, and at "
            "most one without it"
        )
    return drafting[0], plain[0] if plain else None


def _run(path: Path) -> LoggedRun:
    whole = used(stated(given(path)).found)
    if not whole:
        raise wrong(str(path), "no line with counts of drafts or with times was recognised")
    require_one_run(str(path), whole)
    again = repeats([each for each in whole if each.is_request])
    found = [each for each in whole if not (each.is_request and again.pop(0))]
    accepted, drafted, rounds, written = _counts(found)
    if accepted is not None and not 0 <= accepted <= (accepted if drafted is None else drafted):
        raise wrong(str(path), "more tokens were accepted than drafted", "give a whole log")
    if written is None and accepted is not None and rounds is not None:
        written = accepted + rounds
    length, share = (_mean(found, name) for name in ("length", "share"))
    mean_depth = drafted / rounds if drafted and rounds else 0.0
    depth = max(map(_depth, found), default=0.0) or mean_depth
    return LoggedRun(
        name=path.name,
        share=accepted / drafted if accepted is not None and drafted else share,
        tokens=written / rounds if written is not None and rounds else length,
        depth=max(1, math.ceil(depth - _ROUNDED)) if depth else None,
        tps=_rate(found),
    )


def _counts(found: Sequence[Found]) -> Sequence[float | None]:
    """Accepted and drafted tokens, rounds, and their tokens, from the first source with them."""
    for gives in _SOURCES:
        rows = [each for each in found if each.form.gives == gives]
        counts = [_sum(rows, at) for at in range(4)]
        if counts[0] is not None and (counts[1] or counts[2]):
            return counts
    return [None] * 4


def _sum(rows: Sequence[Found], at: int) -> float | None:
    """The sum of a count over rows; of sums since a start, the last, or the growth of a series."""
    values: dict[object, list[float]] = {}
    for number, each in enumerate(rows):
        label = _SUMS.get(each.form.gives)
        key = (each.server, each.figures.get(label)) if label else number
        if (value := _count(each)[at]) is not None:
            values.setdefault(key, []).append(value)
        elif each.is_request:
            return None
    grown = bool(rows) and rows[0].form.gives == "series"
    sums = [own[-1] - own[0] if grown and len(own) > 1 else own[-1] for own in values.values()]
    return sum(sums) if sums else None


def _count(each: Found) -> Sequence[float | None]:
    """Accepted and drafted tokens, rounds, and their tokens, of one line or request."""
    names = ("accepted", "rounds", "tokens", "length", "emitted")
    accepted, rounds, tokens, length, written = map(each.number, names)
    drafted, depth = each.drafted, _depth(each)
    if accepted is None and each.is_silent:  # the server drafted nothing
        accepted = drafted = 0.0
    if tokens:
        written = tokens - 1
    if rounds is None and tokens and accepted is not None:
        rounds = max(1.0, tokens - 1 - accepted)
    elif rounds is None and accepted and length and length > 1:
        rounds = accepted / (length - 1)
    elif rounds is None and drafted and depth:
        rounds = drafted / depth
    return accepted, drafted, rounds, written


def _depth(each: Found) -> float:
    """The length of a draft that a line states; 0 if it states none."""
    drafts, tokens = each.number("drafts"), each.number("tokens")
    if "positions" in each.figures:
        return len(str(each.figures["positions"]).split(","))
    return each.number("depth") or (tokens / drafts if drafts and tokens else 0.0)


def _mean(found: Sequence[Found], name: str) -> float | None:
    values = [value for each in found if (value := each.number(name)) is not None]
    return fmean(values) if values else None


def _rate(found: Sequence[Found]) -> float | None:
    """Tokens/s over all requests, else the median of the speeds of one request at a time."""
    timed = [
        (each.step_ms, (each.number("tokens") or 0.0) - 1)
        for each in found
        if each.is_request and each.step_ms
    ]
    if timed:
        return sum(n for _, n in timed) / sum(ms * n for ms, n in timed) * MS_PER_S
    alone = [each for each in found if each.number("at_once") in {None, 1.0}]
    rates = [MS_PER_S / each.step_ms for each in alone if each.step_ms]
    return median(rate for rate in rates if rate >= _BUSY * max(rates)) if rates else None
