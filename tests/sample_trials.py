"""The trials of the samples: counters that follow from a handful of costs."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from estimates.running_order import running_order
from schemas.submission import Arm, Prompt, Submission, Trial

OUTPUT_TOKENS = 41
DEPTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCosts:
    """A simulated rig: a plain step, one more verified token, one drafted token, and the noise."""

    step_ms: float = 20.0
    extra_width_ms: float = 2.0
    draft_token_ms: float = 2.0
    noise: float = 0.01


def trials_of(
    rng: random.Random,
    costs: SampleCosts,
    prompts: tuple[Prompt, ...],
    arms: tuple[Arm, ...],
    blocks: int,
) -> tuple[Trial, ...]:
    """Every arm on every prompt in every block."""
    trials: list[Trial] = []
    for block in range(blocks):
        for number, prompt in enumerate(prompts):
            for arm in arms:
                trial = _trial(rng, costs, arm, number)
                if arm.role == "baseline" and block == 0:  # the others are compared with this one
                    trial = replace(trial, compared_tokens=None)
                trials.append(replace(trial, prompt=prompt.id, block=block, order=len(trials)))
    return tuple(trials)


def slower(each: Trial, by: float) -> Trial:
    """The trial with its token times multiplied."""
    medians = each.round_ms_median and tuple(ms * by for ms in each.round_ms_median)
    decode_ms = None if each.decode_ms is None else each.decode_ms * by
    return replace(each, decode_ms=decode_ms, round_ms_median=medians)


def slowed(made: Submission, factor: Callable[[Trial], float]) -> Submission:
    """The submission with every trial's times multiplied."""
    return replace(made, trials=tuple(slower(each, factor(each)) for each in made.trials))


def in_order(trials: tuple[Trial, ...], seed: int) -> tuple[Trial, ...]:
    """The same trials in the order of the harness."""
    by_place = {(each.block, each.prompt, each.arm): each for each in trials}
    planned = running_order(
        list(dict.fromkeys(each.arm for each in trials)),
        list(dict.fromkeys(each.prompt for each in trials)),
        blocks=1 + max(each.block for each in trials),
        seed=seed,
        interleaved="prompt",
    )
    return tuple(replace(by_place[place], order=order) for order, place in enumerate(planned))


def _trial(rng: random.Random, costs: SampleCosts, arm: Arm, number: int) -> Trial:
    """One generation; its acceptance depends on the task and on the prompt's `number`."""
    depth = {"none": 0, "prompt-lookup": DEPTH if number % 3 == 0 else 0, "draft-model": DEPTH}[
        arm.method.type
    ]
    accepted_each = min(depth, 1 + number % 4) if depth else 0
    rounds, rest = divmod(OUTPUT_TOKENS - 1, accepted_each + 1)
    accepted_by_round = [accepted_each] * rounds + ([rest - 1] if rest else [])
    drafting_ms = depth * costs.draft_token_ms if arm.method.type == "draft-model" else 0.0
    verify_ms = costs.step_ms + costs.extra_width_ms * depth
    factor = 1 + rng.uniform(-costs.noise, costs.noise)
    count = len(accepted_by_round)
    decode_ms = (verify_ms + drafting_ms) * factor * count
    return Trial(
        arm=arm.id,
        prompt="",
        block=0,
        order=0,
        outcome="ok",
        prompt_ms=50.0,
        output_tokens=OUTPUT_TOKENS,
        decode_ms=decode_ms,
        draft_ms=drafting_ms * factor * count,
        verify_ms=verify_ms * factor * count,
        wall_ms=decode_ms + 60.0,
        rounds=count,
        full_rounds=accepted_by_round.count(depth) if depth else 0,
        drafted=depth * count,
        accepted=sum(accepted_by_round),
        accepted_histogram=_histogram(accepted_by_round),
        drafted_histogram=_histogram([depth] * count),
        round_ms_median=((verify_ms + drafting_ms) * factor,),
        round_cpu_ms_median=((verify_ms + drafting_ms) * factor * 2,),
        finish="length",
        output_sha256=f"{number:016x}",
        compared_tokens=OUTPUT_TOKENS,
    )


def _histogram(lengths: list[int]) -> tuple[int, ...]:
    return tuple(lengths.count(length) for length in range(max(lengths) + 1))
