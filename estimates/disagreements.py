"""Find the prompts that a campaign repeats because their times disagree between blocks.

Two times for a prompt do not show which of them was disturbed. With a third time, the median
ignores a single disturbed one. On a drifting machine most prompts disagree, and the repeats become
a third block. All arms repeat a prompt together, so that their times stay paired.
"""

from collections.abc import Iterable

from estimates.trial_times import ms_per_token
from schemas.submission import Trial


def disagreeing(trials: Iterable[Trial], blocks: int, beyond: float | None) -> frozenset[str]:
    """The prompts on which an arm's times differ between the first `blocks` blocks.

    Times differ if the longest exceeds the shortest by more than the share `beyond`.
    """
    if beyond is None:
        return frozenset()
    times: dict[tuple[str, str], list[float]] = {}
    for trial in trials:
        ms = ms_per_token(trial) if trial.block < blocks else None
        if ms is not None:
            times.setdefault((trial.prompt, trial.arm), []).append(ms)
    return frozenset(
        prompt for (prompt, _), own in times.items() if max(own) > (1 + beyond) * min(own)
    )
