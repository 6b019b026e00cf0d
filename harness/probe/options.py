"""The options of `draftmap probe` beside the model and the engine."""

from dataclasses import dataclass

from harness.options import option

_MEASURED = "What is measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    budget_min: float = option(
        "Time limit: no pass over the widths is started that would overrun it, after the first "
        "five.",
        name="budget",
        metavar="MINUTES",
        panel=_MEASURED,
        least=0.1,
        most=1000,
        default=2.0,
    )
    widest: int = option(
        "The most tokens of a step: the longest draft and one.",
        metavar="N",
        panel=_MEASURED,
        least=2,
        most=64,
        default=16,
    )
    json: bool = option(
        "Print the curve as JSON, which `plan --curve` reads.", panel="Result", default=False
    )
