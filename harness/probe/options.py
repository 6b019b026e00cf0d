"""The options of `draftmap probe`, apart from the model and the engine."""

from dataclasses import dataclass

from harness.options import option

_MEASURED = "What is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    budget_min: float = option(
        "Time limit: after the first five passes over the widths, the probe stops before a pass "
        "that would exceed the limit.",
        name="budget",
        metavar="MINUTES",
        panel=_MEASURED,
        least=0.1,
        most=1000,
        default=2.0,
    )
    widest: int = option(
        "Largest number of tokens in a step: the longest draft plus one.",
        metavar="N",
        panel=_MEASURED,
        least=2,
        most=64,
        default=16,
    )
    json: bool = option(
        "Print the curve as JSON, which `plan --curve` reads.", panel="Result", default=False
    )
