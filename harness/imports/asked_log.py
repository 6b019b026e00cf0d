"""Read the acceptance and the plain speed from a log or from a server's answers, for `plan`.

Any text that the importer reads will do; only its counts and times are used.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from harness.errors import BadInputError
from harness.imports.forms import Found, repeats, stated
from harness.imports.source_files import given, wrong

_MS_PER_S = 1000
_COUNTED = ("series", "run", "total", "interval", "statistics")
_LAST = ("series", "total", "statistics")  # the last of such lines has the sums


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRun:
    """What a text states about one run; `depth` is the mean length of its drafts."""

    name: str
    share: float | None = None
    tokens: float | None = None
    depth: int | None = None
    tps: float | None = None

    @property
    def drafts(self) -> bool:
        return self.share is not None or self.tokens is not None


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
    found = stated(given(path)).found
    if not found:
        raise wrong(str(path), "no line with counts of drafts or with times was recognised")
    requests = [each for each in found if each.is_request]
    again = repeats(requests)
    requests = [each for each, cached in zip(requests, again, strict=True) if not cached]
    accepted, drafted, rounds = _counts(requests) or _counts(_sums(found)) or (None, None, None)
    if accepted is not None and drafted is not None and accepted > drafted:
        raise wrong(str(path), "more tokens were accepted than drafted", "give a whole log")
    length, share = (_mean(found, name) for name in ("length", "share"))
    drafts = sum(each.number("drafts") or 0 for each in found if each.form.gives == "statistics")
    long = sum(each.number("tokens") or 0 for each in found if each.form.gives == "statistics")
    rounds = drafts or rounds
    positions = [each.figures["positions"] for each in found if "positions" in each.figures]
    depth = long / drafts if drafts else drafted / rounds if drafted and rounds else None
    if positions:
        depth = len(str(positions[-1]).split(","))
    return LoggedRun(
        name=path.name,
        share=accepted / drafted if accepted is not None and drafted else share,
        tokens=1 + accepted / rounds if accepted is not None and rounds else length,
        depth=max(1, math.ceil(depth - _ROUNDED)) if depth else None,
        tps=_rate(requests, found),
    )


_ROUNDED = 0.25  # a last, shorter draft makes the mean length a little shorter than the depth


def _counts(found: Sequence[Found]) -> tuple[float, float, float | None] | None:
    """The accepted and drafted tokens and the rounds; `None` if they are not counted."""
    known = [each for each in found if each.number("accepted") is not None]
    drafted = [_drafted(each) for each in known]
    if not known or None in drafted or not sum(filter(None, drafted)):
        return None
    accepted = sum(each.number("accepted") or 0.0 for each in known)
    rounds = [each.number("rounds") or _rounds_of(each) for each in known]
    total = None if None in rounds else sum(filter(None, rounds))
    return accepted, sum(filter(None, drafted)), total


def _drafted(each: Found) -> float | None:
    drafted, rejected = each.number("drafted"), each.number("rejected")
    if drafted is None and each.form.gives == "statistics":
        drafted = each.number("tokens")
    if drafted is None and rejected is not None:
        return rejected + (each.number("accepted") or 0.0)
    return drafted


def _rounds_of(each: Found) -> float | None:
    """The rounds of a request: its tokens after the first that no draft had."""
    tokens, accepted = each.number("tokens"), each.number("accepted")
    if each.form.gives != "request" or not tokens or accepted is None:
        return None
    return max(1.0, tokens - 1 - accepted)


def _sums(found: Sequence[Found]) -> list[Found]:
    """The counts beside the requests, from the first kind of source that the text has."""
    for gives in _COUNTED:
        rows = [each for each in found if each.form.gives == gives]
        if any(each.number("accepted") is not None for each in rows):
            return rows[-1:] if gives in _LAST else rows
    return []


def _mean(found: Sequence[Found], name: str) -> float | None:
    values = [value for each in found if (value := each.number(name)) is not None]
    return fmean(values) if values else None


def _rate(requests: Sequence[Found], found: Sequence[Found]) -> float | None:
    """The tokens per second of all requests, else the median of the rates that are printed."""
    times = [(each.number("tokens") or 0.0, each.number("ms")) for each in requests]
    if times and all(ms for _, ms in times):
        return sum(n - 1 for n, _ in times) / sum(ms or 0.0 for _, ms in times) * _MS_PER_S
    rates = [rate for each in found if (rate := each.number("rate"))]
    return median(rates) if rates else None
