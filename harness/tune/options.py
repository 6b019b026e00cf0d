"""The search options of `draftmap tune`."""

from dataclasses import dataclass

from harness.options import option

_PANEL, USUAL_MIN = "The search", 20.0
# Heads and block drafters are trained for a few positions; their files do not contain that number.
DEEPEST_HEAD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The time limit of a tune, and its largest depth."""

    budget_min: float | None = option(
        "Time limit for the whole command. More time gives narrower intervals; a limit that is "
        "too short is refused after the first answers, and --resume continues. Default: "
        f"{USUAL_MIN:g}, or more if the first answers show that a pick needs more.",
        name="budget",
        metavar="MINUTES",
        panel=_PANEL,
        usual=True,
        least=0.1,
        most=100_000,
    )
    deepest: int = option(
        "The largest depth (drafted tokens per round). A run at this depth predicts all smaller "
        f"depths. Heads trained for the target are tried up to depth {DEEPEST_HEAD}.",
        metavar="N",
        panel=_PANEL,
        least=1,
        most=64,
        default=16,
    )
