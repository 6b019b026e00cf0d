"""Simulate a population of prompts on an undisturbed rig, with every speedup known exactly.

A campaign draws a few prompts of each task. There are two true values: the time ratio over the
drawn prompts, and the ratio over the whole population. The interval should contain the latter.
"""

import math
import random
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean

from harness.campaign.model import ArmPlan, Campaign, PromptSuite, RunSettings, SuitePrompt
from harness.models.model_file import ModelFile
from harness.runners.base import Failure, TrialRequest
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Model
from schemas.vocabulary import FIXED_TASKS
from tests.harness.fake_runner import FakeRig, FakeSession

BASELINE = ArmPlan(id="baseline", role="baseline", method=NO_SPECULATION)
DRAFT = ArmPlan(
    id="draft",
    role="speculation",
    method=Method(type="draft-model", draft="draft", n_max=4),
    baseline="baseline",
)
CONTROL = ArmPlan(id="control", role="control", method=NO_SPECULATION, baseline="baseline")
ARMS = (BASELINE, DRAFT, CONTROL)

PROMPTS_PER_TASK = 500
DRAWN_PER_TASK = 3
BLOCKS = 3
OUTPUT_TOKENS = 49
# Acceptance differs between tasks, and between the prompts of a task.
ACCEPTANCE = dict(zip(FIXED_TASKS, (0.8, 0.75, 0.6, 0.7, 0.5, 0.85, 0.4, 0.65), strict=True))
SPREAD = 0.1
SEED = 20261121


@dataclass(frozen=True)
class Population:
    """Prompts by task, and an undisturbed rig."""

    rig: FakeRig
    prompts: tuple[SuitePrompt, ...]

    @cached_property
    def decode_ms(self) -> dict[str, tuple[float, float]]:
        """True decode times of the baseline and the draft arm, keyed by prompt."""
        session = FakeSession(self.rig, campaign(self.prompts, seed=0))
        return {
            prompt.id: (
                _decode_ms(session, BASELINE, prompt.id),
                _decode_ms(session, DRAFT, prompt.id),
            )
            for prompt in self.prompts
        }

    @cached_property
    def truths(self) -> dict[str | None, float]:
        """Log of the true speedup over all prompts, by task; the key `None` is for all tasks."""
        return {task: self.truth(self.prompts, task) for task in (*FIXED_TASKS, None)}

    @cached_property
    def by_task(self) -> dict[str, tuple[SuitePrompt, ...]]:
        """The prompts of each task."""
        return {t: tuple(p for p in self.prompts if p.task == t) for t in FIXED_TASKS}

    def draw(self, rng: random.Random) -> tuple[SuitePrompt, ...]:
        """Draw a few prompts of each task."""
        return tuple(
            prompt
            for task in FIXED_TASKS
            for prompt in rng.sample(self.by_task[task], DRAWN_PER_TASK)
        )

    def truth(self, prompts: tuple[SuitePrompt, ...], task: str | None) -> float:
        """Log of the true time ratio over these prompts, for one task or for all with equal weight.

        All answers have the same length, so times are proportional to times per token.
        """
        tasks = FIXED_TASKS if task is None else (task,)
        plain, own = (
            fmean(
                fmean(self.decode_ms[prompt.id][arm] for prompt in prompts if prompt.task == each)
                for each in tasks
            )
            for arm in range(2)
        )
        return math.log(plain / own)


@cache
def population() -> Population:
    """The prompts and acceptances that all simulations share."""
    rng = random.Random(SEED)  # noqa: S311 - a simulation
    prompts = tuple(
        SuitePrompt(id=f"{task}-{number}", task=task, text="", quick=False)
        for task in FIXED_TASKS
        for number in range(PROMPTS_PER_TASK)
    )
    acceptance = {
        prompt.id: min(0.98, max(0.02, rng.gauss(ACCEPTANCE[prompt.task], SPREAD)))
        for prompt in prompts
    }
    rig = FakeRig(
        step_ms=20.0, extra_width_ms=2.0, draft_token_ms=2.5, acceptance=acceptance, noise=0.0
    )
    return Population(rig=rig, prompts=prompts)


def campaign(prompts: tuple[SuitePrompt, ...], *, seed: int) -> Campaign:
    """A campaign of the default size with these prompts."""
    return Campaign(
        profile="custom",
        target=ModelFile(
            path=Path("target.gguf"), model=Model(id="target", name="Target", quantisation="F16")
        ),
        drafts=(
            ModelFile(
                path=Path("draft.gguf"), model=Model(id="draft", name="Draft", quantisation="Q4_1")
            ),
        ),
        arms=ARMS,
        suite=PromptSuite(
            id="simulated",
            version="1.0.0",
            sha256="0" * 64,
            prompts=prompts,
            max_output_tokens=OUTPUT_TOKENS,
            quick_max_output_tokens=OUTPUT_TOKENS,
        ),
        settings=RunSettings(max_output_tokens=OUTPUT_TOKENS),
        blocks=BLOCKS,
        seed=seed,
    )


def _decode_ms(session: FakeSession, arm: ArmPlan, prompt: str) -> float:
    request = TrialRequest(arm=arm.id, prompt=prompt, max_output_tokens=OUTPUT_TOKENS)
    generation = session.generate(request)
    if isinstance(generation, Failure):
        raise TypeError(generation.detail)
    return sum(each.round_ms for each in generation.rounds)
