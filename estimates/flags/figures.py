"""Flags about figures that no clock writes, and about prompts of an unknown suite."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib import resources
from statistics import median

from estimates.decomposition import tokens_per_round
from estimates.flags.evidence import Evidence, only
from estimates.intervals import p_of_even
from estimates.model import Flag
from schemas.submission import Trial
from schemas.vocabulary import say

# Times in steps of 10 ms, or of half a percent of the usual time, are no reading of a clock.
COARSE_STEP_MS, COARSE_SHARE = 10.0, 0.005
FEWEST_ROUNDED = 12
# The last of four or more digits is even (Beber and Scacco 2012, What the numbers say: a
# digit-based test for election fraud; Mosimann et al. 1995, Data fabrication: can people generate
# random digits?). Chi-square wants five expected in each of the ten cells; we ask for ten.
UNEVEN_P, FEWEST_FOR_DIGITS, LEAST_READING = 1e-6, 100, 1000
# Microseconds are the finest that the harness writes; further digits come from arithmetic.
_FINEST_DECIMALS = 3


# A round at the end of an answer is cut short, and an engine that draws lengths at random varies.
LENGTH_APART = 0.15


def acceptance_not_as_set(evidence: Evidence) -> Flag | None:
    """An arm with forced acceptance yields another number of tokens per round than was set."""
    found: dict[str, str] = {}
    for arm in evidence.submission.arms:
        trials = [trial for trial in evidence.submission.trials if trial.arm == arm.id]
        yielded = tokens_per_round([trial for trial in trials if trial.outcome == "ok"])
        length = arm.method.length
        if yielded is None or length is None:
            continue
        if abs(yielded / length - 1) > LENGTH_APART:
            found[arm.id] = f"{yielded:.2f} instead of {length:g} with {arm.id}"
    if not found:
        return None
    return Flag(
        name="acceptance-not-as-set",
        severity="serious",
        message=f"Tokens per round are not what was set: {say.listed([*found.values()])}.",
        remedy="Check that the engine was started with synthetic acceptance of that length.",
        arm=only(found),
    )


def rounded_times(evidence: Evidence) -> Flag | None:
    """Every time is a multiple of a coarse step."""
    times = _times(evidence)
    if len(times) < FEWEST_ROUNDED or len(set(times)) == 1:
        return None
    step_ms = float(_step(times))
    if step_ms < COARSE_STEP_MS and step_ms < COARSE_SHARE * float(median(times)):
        return None
    return Flag(
        name="rounded-times",
        severity="caution",
        message=f"Every one of {len(times)} times is a multiple of {step_ms:g} ms.",
        remedy="Send what the clock said, not rounded figures; say in the notes if it is coarse.",
    )


def uneven_digits(evidence: Evidence) -> Flag | None:
    """The last digits of the times are far from evenly spread."""
    times = set(_times(evidence))
    if not times:
        return None
    step = _step(sorted(times))
    readings = [int(time / step) for time in times]
    last = Counter(reading % 10 for reading in readings if reading >= LEAST_READING)
    if last.total() < FEWEST_FOR_DIGITS:
        return None
    counts = [last[digit] for digit in range(10)]
    if p_of_even(counts) >= UNEVEN_P:
        return None
    digit, count = last.most_common(1)[0]
    return Flag(
        name="uneven-digits",
        severity="caution",
        message=f"Of {last.total()} times {count} end in {digit}; a clock's last digits are even.",
        remedy="Send what the clock said; if figures were converted, say from what in the notes.",
    )


def unknown_suite(evidence: Evidence) -> Flag | None:
    """The prompts are not those of a suite that was released."""
    submission = evidence.submission
    suite = submission.suite
    released = suites().get(suite.id)
    simulated = submission.engine.runner == "fake"
    if simulated or submission.tier != "measured" or suite.sha256 is None:
        return None
    if released is None:
        return Flag(
            name="unknown-suite",
            severity="note",
            message=f"The suite {suite.id} is none of ours, so its prompts cannot be looked up.",
            remedy="Measure with --suite core to be comparable prompt by prompt.",
        )
    if suite.sha256 in released.values():
        return None
    return Flag(
        name="unknown-suite",
        severity="caution",
        message=f"The prompts are not those of any released version of the suite {suite.id}.",
        remedy="Measure with the suite as it was released, or give a changed one another id.",
    )


def _times(evidence: Evidence) -> list[Decimal]:
    """All decode times, to the microsecond."""
    finest = Decimal(1).scaleb(-_FINEST_DECIMALS)
    return [
        Decimal(repr(each.decode_ms)).quantize(finest)
        for each in evidence.submission.trials
        if each.decode_ms
    ]


@cache
def suites() -> Mapping[str, Mapping[str, str]]:
    """Released suites: name to version to digest, from `schemas/suites.json`."""
    text = resources.files("schemas").joinpath("suites.json").read_text("utf-8")
    known: Mapping[str, Mapping[str, str]] = json.loads(text)["suites"]
    return known


def _step(times: Sequence[Decimal]) -> Decimal:
    """The coarsest power of ten that all times are multiples of."""
    step = Decimal(1).scaleb(-_FINEST_DECIMALS)
    while all(time % (step * 10) == 0 for time in times) and step < max(times):
        step *= 10
    return step


def counters_disagree(evidence: Evidence) -> Flag | None:
    """The server's metrics page counted other drafts than its answers did.

    The figures come from the answers. Where these omit rounds, acceptance and round costs are
    wrong; the speedup is not, since it comes from tokens and times.
    """
    apart = [trial for trial in evidence.submission.trials if _disagrees(trial)]
    if not apart:
        return None
    arms = list(dict.fromkeys(trial.arm for trial in apart))
    by_answer = sum(trial.drafted or 0 for trial in apart)
    by_page = sum(trial.metrics_drafted or 0 for trial in apart)
    return Flag(
        name="counters-disagree",
        severity="caution",
        message=(
            f"In {say.count(len(apart), 'trial')} of {say.listed(arms)} the server's answers and "
            f"its metrics page disagree about drafts: {by_answer} and {by_page} tokens drafted."
        ),
        remedy=(
            "Trust the speedup, not acceptance and round costs; make sure that nobody else asks "
            "this server, and try another build of it."
        ),
        arm=only(arms),
        prompt=apart[0].prompt,
    )


def _disagrees(trial: Trial) -> bool:
    pairs = ((trial.drafted, trial.metrics_drafted), (trial.accepted, trial.metrics_accepted))
    return any(page is not None and page != answer for answer, page in pairs)
