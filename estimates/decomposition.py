"""Split a speedup into the tokens that a round yields and the cost of that round.

`speedup = tokens_per_round / round_cost`, on one prompt, on one task and over all tasks.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, zip_longest
from operator import mul
from statistics import median

from estimates.trial_times import rounds
from schemas.submission import Method, Probes, Trial, VerificationProbe
from schemas.vocabulary import METHODS


def can_draft(method: Method) -> bool:
    """Whether the method drafts; otherwise acceptance and fire rate are meaningless."""
    return METHODS[method.type].drafts


def tokens_per_round(trials: Sequence[Trial]) -> float | None:
    """Tokens per round, the first token aside; 1 without speculation, `None` if unknown."""
    return share(
        [(trial.output_tokens or 1) - 1 for trial in trials], [rounds(trial) for trial in trials]
    )


def acceptance_rate(trials: Sequence[Trial]) -> float | None:
    """Accepted tokens over drafted tokens; `None` if none were drafted or a count is unknown."""
    return share([trial.accepted for trial in trials], [trial.drafted for trial in trials])


def fire_rate(trials: Sequence[Trial]) -> float | None:
    """The share of all rounds that drafted at least one token."""
    return share([_fired(trial) for trial in trials], [rounds(trial) for trial in trials])


def drafted_nothing(trials: Sequence[Trial]) -> bool:
    """Whether it is known that no token was drafted in these trials."""
    return bool(trials) and all(trial.drafted == 0 for trial in trials)


def drafted_lengths(trials: Iterable[Trial]) -> tuple[int, ...] | None:
    """Rounds by drafted length over all trials; `None` if a trial has no such record."""
    return _summed([trial.drafted_histogram for trial in trials])


def accepted_lengths(trials: Iterable[Trial]) -> tuple[int, ...] | None:
    """Rounds by accepted length over all trials; `None` if a trial has no such record."""
    return _summed([trial.accepted_histogram for trial in trials])


def position_acceptance(trials: Sequence[Trial]) -> tuple[float, ...] | None:
    """For each position j, the chance that draft token j is accepted if the j - 1 before it were.

    The chance is `accepted_j / at_risk_j`. A round is at risk if it accepted j - 1 tokens and
    drafted at least j. The drafted and accepted lengths are recorded in separate histograms, so it
    is unknown which of the rounds that accepted j - 1 tokens drafted at least j. Shorter drafts are
    therefore assumed to be accepted like longer ones, as Kaplan and Meier assume for censored
    lifetimes. If all drafts have the same length, the chances are exact. The tuple ends where no
    round was at risk.
    """
    drafted, accepted = drafted_lengths(trials), accepted_lengths(trials)
    if drafted is None or accepted is None:
        return None
    chances: list[float] = []
    for position in range(1, len(drafted)):
        longer, long_enough = sum(drafted[position:]), sum(drafted[position - 1 :])
        at_risk = sum(accepted[position - 1 :]) * longer / long_enough if long_enough else 0.0
        if at_risk == 0:
            break
        chances.append(min(1.0, sum(accepted[position:]) / at_risk))
    return tuple(chances)


def _fired(trial: Trial) -> int | None:
    """The number of rounds that drafted at least one token."""
    if trial.drafted_histogram is not None:
        return sum(trial.drafted_histogram[1:])
    return 0 if trial.drafted == 0 else None


def share(parts: Sequence[float | None], wholes: Sequence[float | None]) -> float | None:
    """Sum of `parts` over sum of `wholes`; `None` if a value is unknown or the divisor is 0."""
    over, under = ([each for each in values if each is not None] for values in (parts, wholes))
    unknown = len(over) < len(parts) or len(under) < len(wholes)
    return None if unknown or sum(under) == 0 else sum(over) / sum(under)


def _summed(histograms: Sequence[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    known = [histogram for histogram in histograms if histogram is not None]
    if not known or len(known) < len(histograms):
        return None
    return tuple(sum(column) for column in zip_longest(*known, fillvalue=0))


def predicted_speedup(
    method: Method, trials: Sequence[Trial], probes: Probes | None
) -> float | None:
    """The speedup that the probes predict; `None` if a probe or a histogram is missing."""
    lengths, chances = drafted_lengths(trials), position_acceptance(trials)
    draft_ms, curve = draft_token_ms(method, probes), probes.verification if probes else None
    if curve is None or lengths is None or chances is None or draft_ms is None:
        return None
    single_ms, cost_ms, tau = step_ms(curve, 1), 0.0, 0.0
    for length, count in enumerate(lengths):
        if count:
            width_ms = step_ms(curve, length + 1)
            if width_ms is None:
                return None
            cost_ms += count * (length * draft_ms + width_ms)
            tau += count * expected_tokens(chances, length)
    return None if single_ms is None or cost_ms == 0 else tau * single_ms / cost_ms


def expected_tokens(chances: Sequence[float], length: int) -> float:
    """The expected tokens of a round that drafts `length` tokens: 1 + sum_i prod_{j<=i} p_j."""
    return 1.0 + float(sum(accumulate(chances[:length], mul)))


def curve_of(times_ms: Mapping[int, Sequence[float]], *, context_tokens: int) -> VerificationProbe:
    """The median step time of each width; every width needs at least one time."""
    return VerificationProbe(
        context_tokens=context_tokens,
        repeats=min(map(len, times_ms.values())),
        widths=tuple(times_ms),
        step_ms_median=tuple(round(median(each), 6) for each in times_ms.values()),
    )


def step_ms(curve: VerificationProbe, width: int) -> float | None:
    """Milliseconds of a target step of this width, interpolated; `None` outside probed widths."""
    if not curve.widths[0] <= width <= curve.widths[-1]:
        return None
    place = bisect_right(curve.widths, width)
    if place == len(curve.widths):
        return curve.step_ms_median[-1]
    before, after = curve.step_ms_median[place - 1 : place + 1]
    left, right = curve.widths[place - 1 : place + 1]
    return before + (after - before) / (right - left) * (width - left)


def draft_token_ms(method: Method, probes: Probes | None) -> float | None:
    """Milliseconds to draft one token; `None` if drafting was not probed."""
    if METHODS[method.type].free or (METHODS[method.type].instrument and method.draft is None):
        return 0.0
    for probe in (probes.drafting or ()) if probes else ():
        if probe.draft == method.draft:
            return probe.token_ms_median
    return None
