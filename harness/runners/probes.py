"""Measure the cost of a verification step and of a drafted token."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from estimates.decomposition import curve_of
from harness.campaign.model import Campaign
from harness.runners.base import Stepped, StepTimes
from schemas.submission import DraftingProbe, VerificationProbe

# Enough passes that a brief disturbance does not move the median; slow steps get fewer passes.
PASSES, _LEAST_PASSES = 21, 5
_LIMIT_S = 12.0
DRAFTING_REPEATS = 24
_WIDEST_OF_SERVERS = 16  # each step takes two requests; n-gram drafts may be longer
INSTEAD = (
    "use the JSON of `llama-bench -p 1,2,3,4,5,6,7,8,9 -n 0 -o json` instead: python -m harness "
    "plan MODEL --curve FILE"
)


class Stepping(Protocol):
    """A model that holds a text as its state and can be stepped further."""

    def step(self, tokens: Sequence[int]) -> list[int]:
        """Feed tokens after the held text; return the greedy choice after each."""
        ...

    def advance(self, tokens: Sequence[int]) -> int:
        """Feed tokens after the held text; return the greedy choice after the last."""
        ...

    def truncate(self, length: int) -> None:
        """Drop everything beyond the first `length` tokens."""
        ...


def widest(campaign: Campaign) -> int:
    """Return the number of tokens in the widest step of any arm, capped if servers time steps."""
    depths = (arm.method.n_max or 0 for arm in campaign.arms)
    widest = max(depths, default=0) + 1
    return min(widest, _WIDEST_OF_SERVERS) if campaign.interleaved == "block" else widest


def passes(
    session: Stepped,
    widths: Sequence[int],
    *,
    budget_s: float = _LIMIT_S,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[StepTimes, float]]:
    """Time steps of all widths, pass after pass; yield each pass's times and its duration.

    After the minimum number of passes, a pass that would exceed the budget is not started. Raises
    `HarnessError` if steps cannot be timed.
    """
    began, pass_s = clock(), 0.0
    for done in range(PASSES):
        started = clock()
        if done >= _LEAST_PASSES and started - began + pass_s > budget_s:
            return
        times = session.step_times(widths)
        pass_s = clock() - started
        yield times, pass_s


def verification_curve(session: Stepped, *, widest: int) -> VerificationProbe:
    """Return the median ms of a target's step over 1, 2 … `widest` tokens after a prompt."""
    widths = range(1, widest + 1)
    found = [times for times, _ in passes(session, widths)]
    by_width = zip(*(times.ms for times in found), strict=True)
    return curve_of(
        dict(zip(widths, by_width, strict=True)), context_tokens=found[-1].context_tokens
    )


def step_times(model: Stepping, prompt: Sequence[int], widths: Sequence[int]) -> tuple[float, ...]:
    """Return the milliseconds of one step of each width.

    The model's state must be exactly the prompt, before and after. Each timed step follows a
    discarded step of the same width: the engine rebuilds its graph whenever the width changes,
    which is rare in a campaign (a step with a rebuild took 3 to 6 % longer).
    """
    filler = [prompt[index % len(prompt)] for index in range(max(widths))]
    found = []
    for width in widths:
        _step_ms(model, filler[:width], held=len(prompt))
        found.append(_step_ms(model, filler[:width], held=len(prompt)))
    return tuple(found)


def _step_ms(model: Stepping, tokens: Sequence[int], *, held: int) -> float:
    """Return the time of one step, which is rolled back afterwards."""
    began = time.perf_counter()
    model.step(tokens)
    spent_ms = (time.perf_counter() - began) * 1000
    model.truncate(held)
    return spent_ms


def drafting_cost(model: Stepping, *, draft: str, first: int) -> DraftingProbe:
    """Return the median milliseconds that a draft model takes to propose a token after a prompt.

    `first` is the draft model's choice after the prompt. The proposed tokens stay in the model's
    state.
    """
    token = first
    samples_ms: list[float] = []
    for _ in range(DRAFTING_REPEATS):
        began = time.perf_counter()
        token = model.advance([token])
        samples_ms.append((time.perf_counter() - began) * 1000)
    return DraftingProbe(
        draft=draft, repeats=DRAFTING_REPEATS, token_ms_median=statistics.median(samples_ms)
    )
