"""Measure what a verification step and a drafted token cost."""

import statistics
import time
from collections.abc import Sequence

from harness.runners.inprocess.context import Context
from harness.runners.inprocess.prompt_states import PromptStates
from schemas.submission import DraftingProbe, VerificationProbe

# Enough that a program that comes and goes does not move the median, unless steps are so slow that
# this takes too long.
VERIFICATION_REPEATS = 21
_LEAST_REPEATS = 5
_LIMIT_S = 12.0
DRAFTING_REPEATS = 24


def verification_curve(
    context: Context, prompt: Sequence[int], *, widest: int, states: PromptStates
) -> VerificationProbe:
    """Median milliseconds of a target step that is fed 1, 2 … `widest` tokens after a prompt.

    Widths alternate, so that a machine that slows down slows all of them. Each timed step follows a
    discarded one of the same width: the engine rebuilds its graph whenever the width changes, which
    is rare in a campaign (a single step took 3 to 6 % longer that way).
    """
    filler = [prompt[index % len(prompt)] for index in range(widest)]
    states.ensure_prompt_state(context, prompt)
    times_ms: dict[int, list[float]] = {width: [] for width in range(1, widest + 1)}
    until = time.perf_counter() + _LIMIT_S
    repeats = 0
    while repeats < VERIFICATION_REPEATS and (
        repeats < _LEAST_REPEATS or time.perf_counter() < until
    ):
        repeats += 1
        for width, samples_ms in times_ms.items():
            _step_ms(context, filler[:width], held=len(prompt))
            samples_ms.append(_step_ms(context, filler[:width], held=len(prompt)))
    return VerificationProbe(
        context_tokens=len(prompt),
        repeats=repeats,
        widths=tuple(times_ms),
        step_ms_median=tuple(statistics.median(samples) for samples in times_ms.values()),
    )


def _step_ms(context: Context, tokens: Sequence[int], *, held: int) -> float:
    """How long one step takes; afterwards the context holds what it held before."""
    began = time.perf_counter()
    context.step(tokens)
    spent_ms = (time.perf_counter() - began) * 1000
    context.truncate(held)
    return spent_ms


def drafting_cost(
    context: Context, prompt: Sequence[int], *, draft: str, states: PromptStates
) -> DraftingProbe:
    """Median milliseconds in which a draft model proposes one token after a prompt."""
    token = states.ensure_prompt_state(context, prompt).first
    samples_ms: list[float] = []
    for _ in range(DRAFTING_REPEATS):
        began = time.perf_counter()
        token = context.advance([token])
        samples_ms.append((time.perf_counter() - began) * 1000)
    states.forget(context)
    return DraftingProbe(
        draft=draft, repeats=DRAFTING_REPEATS, token_ms_median=statistics.median(samples_ms)
    )
