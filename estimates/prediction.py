"""Predict a speedup from costs that were measured separately from the trials.

`predicted = tau * T(1) / cost`: `tau` are the tokens that a round yields by the measured
per-position acceptance, `cost` the drafting of d tokens and one target step of width d + 1, both
averaged over the drafted lengths that occurred. A round that did not fire is length 0: it yields
one token and costs T(1). The comparison with the measured speedup shows what the probes miss.
"""

from collections.abc import Sequence

import numpy as np

from estimates.decomposition import drafted_lengths, position_acceptance
from schemas.submission import Method, Probes, Trial, VerificationProbe
from schemas.vocabulary import METHODS


def predicted_speedup(
    method: Method, trials: Sequence[Trial], probes: Probes | None
) -> float | None:
    """The speedup that the probes predict; `None` where a probe or a histogram is missing."""
    lengths = drafted_lengths(trials)
    chances = position_acceptance(trials)
    draft_ms = draft_token_ms(method, probes)
    if probes is None or probes.verification is None:
        return None
    if lengths is None or chances is None or draft_ms is None:
        return None
    steps = [step_ms(probes.verification, length + 1) for length in range(len(lengths))]
    single_ms = step_ms(probes.verification, 1)
    cost_ms = 0.0
    for length, count in enumerate(lengths):
        width_ms = steps[length]
        if count and width_ms is None:
            return None
        cost_ms += count * (length * draft_ms + (width_ms or 0.0))
    if single_ms is None or cost_ms == 0:
        return None
    tau = sum(count * expected_tokens(chances, length) for length, count in enumerate(lengths))
    return tau * single_ms / cost_ms


def expected_tokens(chances: Sequence[float], length: int) -> float:
    """Tokens that a round with `length` drafted tokens yields: 1 + sum_i prod_{j<=i} p_j."""
    return 1.0 + float(np.cumprod(chances[:length]).sum())


def step_ms(curve: VerificationProbe, width: int) -> float | None:
    """Milliseconds of one target step, interpolated between probed widths, never beyond them."""
    if not curve.widths[0] <= width <= curve.widths[-1]:
        return None
    return float(np.interp(width, curve.widths, curve.step_ms_median))


def draft_token_ms(method: Method, probes: Probes | None) -> float | None:
    """Milliseconds to draft one token; `None` where that was not probed."""
    if METHODS[method.type].free:
        return 0.0
    draft = getattr(method, "draft", None)
    for probe in (probes.drafting or ()) if probes else ():
        if probe.draft == draft:
            return probe.token_ms_median
    return None
