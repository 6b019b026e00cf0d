"""How much energy does a token take, where the machine's counters were read?

During generation only: prompt processing is left out, as it is from the rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from estimates.pairing import PromptPairs
    from schemas.submission import Trial


def energy_per_token_j(trials: Sequence[Trial]) -> float | None:
    """Joules over tokens after the first, over all trials; `None` if one was not measured."""
    joules = [trial.energy_j for trial in trials if trial.energy_j is not None]
    tokens = sum((trial.output_tokens or 1) - 1 for trial in trials)
    if len(joules) < len(trials) or tokens == 0 or sum(joules) == 0:
        return None
    return sum(joules) / tokens


def energy_ratio(pairs: PromptPairs) -> float | None:
    """Joules per token of the arm over those of its baseline in the same blocks: below 1 saves."""
    own, base = energy_per_token_j(pairs.trials), energy_per_token_j(pairs.baseline_trials)
    return None if own is None or base is None else own / base
