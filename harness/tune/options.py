"""The search options of `draftmap tune`."""

from dataclasses import dataclass

from harness.options import option

_PANEL = "The search"
# Heads and block drafters are trained for a few positions; their files do not contain that number.
DEEPEST_HEAD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The time limit of a tune, and its largest depth."""

    budget_min: float = option(
        "Time limit for everything together. With more time the intervals get narrower; with too "
        "little only forecasts are known, and --resume continues.",
        name="budget",
        metavar="MINUTES",
        panel=_PANEL,
        usual=True,
        least=0.1,
        most=100_000,
        default=20.0,
    )
    deepest: int = option(
        "The largest depth (drafted tokens per round). One run at it predicts all smaller "
        f"ones. Heads trained for the target are tried up to {DEEPEST_HEAD}.",
        metavar="N",
        panel=_PANEL,
        least=1,
        most=64,
        default=16,
    )
