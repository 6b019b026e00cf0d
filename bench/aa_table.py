"""Summarise all A/A campaigns as a table to print and as JSON for the page Proofs."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Literal, get_args

from bench.aa_campaign import SUITE, AaOutcome, Part
from schemas.codec import encode
from schemas.submission import Submission

# `AaOutcome` explains each of these estimators.
Estimator = Literal["ratio", "processor", "naive_interleaved", "naive_sequential"]
DECIMALS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AaRow:
    """One estimator's errors over all quiet or all loaded campaigns; the true ratio is 1.

    `error_median` and `error_worst` are factors minus 1: 0.05 means that the estimate was 1.05 or 1
    / 1.05. Naive estimators have no interval.
    """

    part: Part
    estimator: Estimator
    campaigns: int
    lowest: float
    highest: float
    error_median: float
    error_worst: float
    coverage: float | None = None
    half_width_median: float | None = None


def rows(outcomes: Sequence[AaOutcome]) -> list[AaRow]:
    """Return one row per estimator and kind of campaign (quiet or loaded) that was measured."""
    return [
        _row(part, estimator, [each for each in outcomes if each.part == part])
        for part in get_args(Part)
        if any(each.part == part for each in outcomes)
        for estimator in get_args(Estimator)
    ]


def table(outcomes: Sequence[AaOutcome]) -> Iterator[str]:
    """The lines of the table."""
    heads = ("lowest", "highest", "error", "worst", "covered", "half-width")
    yield f"{'':25}" + "".join(f"{head:>11}" for head in heads)
    for row in rows(outcomes):
        shares = (row.error_median, row.error_worst, row.coverage, row.half_width_median)
        shown = "".join(f"{'' if each is None else f'{each:.1%}':>11}" for each in shares)
        yield f"{row.part:7}{row.estimator:18}{row.lowest:>11.3f}{row.highest:>11.3f}{shown}"


def document(outcomes: Sequence[AaOutcome], last: Submission, command: str) -> str:
    """The estimates as JSON, with the machine and settings from `last`, the newest campaign."""
    about = {
        "command": command,
        "date": last.measured_from[:10],
        "machine": encode(last.machine),
        "engine": encode(last.engine),
        "target": last.target.name,
        "quantisation": last.target.quantisation,
        "suite": SUITE.name,
        "prompts": len(last.suite.prompts),
        "blocks": last.design.blocks,
        "output_tokens": last.settings.max_output_tokens,
        "threads": last.settings.threads,
    }
    listed = [
        rounded(asdict(each))
        for each in sorted(outcomes, key=lambda each: (get_args(Part).index(each.part), each.seed))
    ]
    summary = [rounded(asdict(row)) for row in rows(outcomes)]
    return json.dumps({**about, "rows": summary, "campaigns": listed}, indent=2) + "\n"


def _row(part: Part, estimator: Estimator, group: Sequence[AaOutcome]) -> AaRow:
    values: list[float] = [getattr(each, estimator) for each in group]
    intervals = [each for each in (_interval(one, estimator) for one in group) if each]
    errors = [math.expm1(abs(math.log(value))) for value in values]
    return AaRow(
        part=part,
        estimator=estimator,
        campaigns=len(group),
        lowest=min(values),
        highest=max(values),
        error_median=median(errors),
        error_worst=max(errors),
        coverage=fmean(low <= 1 <= high for low, high in intervals) if intervals else None,
        half_width_median=median(map(_half_width, intervals)) if intervals else None,
    )


def _interval(outcome: AaOutcome, estimator: Estimator) -> tuple[float, float] | None:
    match estimator:
        case "ratio":
            return outcome.low, outcome.high
        case "processor":
            return outcome.processor_low, outcome.processor_high
        case _:
            return None


def _half_width(interval: tuple[float, float]) -> float:
    """The factor from an interval's middle to its ends, minus 1: 0.05 for [x / 1.05, x * 1.05]."""
    low, high = interval
    return math.sqrt(high / low) - 1


def rounded(values: dict[str, object]) -> dict[str, object]:
    """Drop unknown values and round floats, for the JSON file of figures."""
    return {
        key: round(value, DECIMALS) if isinstance(value, float) else value
        for key, value in values.items()
        if value is not None
    }
