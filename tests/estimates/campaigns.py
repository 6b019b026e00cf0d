"""Minimal campaigns for tests of estimates: a test states only the values it needs."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

from schemas.method import NO_SPECULATION, Method
from schemas.submission import Arm, Prompt, Submission, Trial
from tests.samples import sample

DRAFTER = Method(type="draft-model", draft="tiny-q8-0", n_max=4)
LOOKUP = Method(type="prompt-lookup", n_max=4, ngram_min=2, ngram_max=4)
BASELINE = Arm(id="baseline", role="baseline", method=NO_SPECULATION)
SPEC = Arm(id="spec", role="speculation", method=DRAFTER, baseline="baseline")
CONTROL = Arm(id="control", role="control", method=NO_SPECULATION, baseline="baseline")


def trial(arm: str = "spec", prompt: str = "code-1", block: int = 0, **fields: object) -> Trial:
    """A finished trial of 11 tokens in 100 ms, 10 ms per token, unless stated otherwise."""
    given = {"order": 0, "outcome": "ok", "output_tokens": 11, "decode_ms": 100.0, **fields}
    return Trial(arm=arm, prompt=prompt, block=block, **given)  # type: ignore[arg-type]


def failed(arm: str = "spec", prompt: str = "code-1", block: int = 0) -> Trial:
    """A trial that timed out."""
    return Trial(arm=arm, prompt=prompt, block=block, order=0, outcome="failed", reason="timed-out")


def campaign(
    trials: Iterable[Trial],
    *,
    prompts: tuple[str, ...] = ("code-1",),
    arms: tuple[Arm, ...] = (BASELINE, SPEC),
    **fields: object,
) -> Submission:
    """These trials in an otherwise quiet submission; the task of `code-1` is code."""
    bare = sample(prompts_per_task=1, blocks=1)
    suite = replace(
        bare.suite,
        prompts=tuple(
            Prompt(id=prompt, task=prompt.split("-")[0])  # type: ignore[arg-type]
            for prompt in prompts
        ),
    )
    ordered = tuple(replace(each, order=order) for order, each in enumerate(trials))
    unplanned = replace(bare.design, seed=None)
    given = {"probes": None, "warmups": None, "design": unplanned, **fields}
    return replace(bare, suite=suite, arms=arms, trials=ordered, **given)  # type: ignore[arg-type]


def without_prompts(submission: Submission, count: int) -> Submission:
    """A submission without its last prompts."""
    prompts = submission.suite.prompts[:-count]
    names = {prompt.id for prompt in prompts}
    kept = (each for each in submission.trials if each.prompt in names)
    return replace(
        submission, suite=replace(submission.suite, prompts=prompts), trials=renumbered(kept)
    )


def renumbered(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Trials in their order, numbered without gaps."""
    ordered = sorted(trials, key=lambda each: each.order)
    return tuple(replace(each, order=order) for order, each in enumerate(ordered))


def table(rows: dict[str, tuple[float, float]], blocks: int = 1) -> tuple[Trial, ...]:
    """Prompt -> (baseline ms, arm ms) for 10 tokens after the first, the same in every block."""
    return tuple(
        trial(arm, prompt, block, decode_ms=decode_ms)
        for block in range(blocks)
        for prompt, both in rows.items()
        for arm, decode_ms in zip(("baseline", "spec"), both, strict=True)
    )


def without_trials(submission: Submission, arm: str, prompts: Sequence[str]) -> Submission:
    """A submission in which an arm lacks some prompts in every block."""
    kept = (each for each in submission.trials if each.arm != arm or each.prompt not in prompts)
    return replace(submission, trials=renumbered(kept))


def blocks_of(prompts: Sequence[str], *factors: float, noise: float) -> Submission:
    """Trials whose blocks take a multiple of the first block's times, with some noise."""
    rng = random.Random(1)  # noqa: S311 - simulated noise
    rows = {prompt: (100.0 + 3 * number, 50.0) for number, prompt in enumerate(prompts)}
    return campaign(
        [
            replace(
                each, decode_ms=(each.decode_ms or 0.0) * factors[each.block] * rng.gauss(1, noise)
            )
            for each in table(rows, len(factors))
        ],
        prompts=tuple(prompts),
    )
