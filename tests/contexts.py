"""Samples at a context depth, whose prompts were padded."""

from dataclasses import replace

from schemas.submission import Submission
from tests.sample_trials import SampleCosts
from tests.samples import TASKS, sample


def at_depth(
    depth: int, *, extra_width_ms: float = 2.0, tasks: tuple[str, ...] = TASKS, per_task: int = 1
) -> Submission:
    """A campaign with this many tokens before every answer; deeper ones have another seed."""
    costs = SampleCosts(extra_width_ms=extra_width_ms, noise=0.001)
    made = sample(
        seed=depth, costs=costs, tasks=tasks, prompts_per_task=per_task, contributor=f"at-{depth}"
    )
    prompts = tuple(replace(prompt, tokens=depth - 3) for prompt in made.suite.prompts)
    settings = replace(made.settings, context_depth_tokens=depth, context_tokens=depth + 1024)
    return replace(
        made,
        profile="custom",
        settings=settings,
        suite=replace(made.suite, prompts=prompts),
    )
