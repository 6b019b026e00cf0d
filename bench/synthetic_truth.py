"""Define the truth of a synthetic collection: costs on each rig, acceptance of each pair.

Verifying w tokens costs `overhead + read * (1 + slope * (w - 1))`, and more for wide steps or
experts. A drafted token costs one plain step of a draft model, a share of the target's step for a
head, and nothing for n-grams. As with greedy decoding, a pair of target and drafter takes the same
rounds to answer a prompt on every rig. Tokens per round therefore depend on pair and prompt, and R,
the cost of a round in plain tokens, also depends on the rig.
"""

import math
import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from schemas.vocabulary import FIXED_TASKS

OUTPUT_TOKENS = 97
PROMPTS_PER_TASK = 3
# Acceptance falls with the position in a draft, and prompts of one task differ.
POSITION_LOGIT = -0.06
PROMPT_SPREAD = 0.35
# A head drafts with the target's own states: it is cheap and starts well, but gets worse with every
# position.
HEAD_STEP_SHARE = 0.07
HEAD_FIRST_LOGIT, HEAD_POSITION_LOGIT = 0.6, -0.5
# Beyond this width a step is compute-bound: each further token costs three times as much.
WIDE, WIDE_FACTOR = 8, 3.0
# Growth of the experts that a step must read, per token of its width.
EXPERT_GROWTH = 0.3

Length = int
Rounds = tuple[tuple[Length, int], ...]  # drafted and accepted tokens of each round


@cache
def world() -> dict[str, Any]:
    """The machines, models and tasks that a corpus is made from."""
    return tomllib.loads(Path(__file__).with_name("synthetic.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A synthetic model in one quantisation."""

    family: str
    parameters: int
    active_parameters: int
    quantisation: str
    has_head: bool = False

    @property
    def name(self) -> str:
        billions = f"{self.parameters / 1e9:g}B"
        if self.active_parameters < self.parameters:
            return f"{self.family}-{billions}-A{self.active_parameters / 1e9:g}B"
        return f"{self.family}-{billions}"

    @property
    def id(self) -> str:
        return f"{self.name}-{self.quantisation}".lower().replace("_", "-")

    @property
    def file_bytes(self) -> int:
        return self._bytes(self.parameters)

    @property
    def bytes_per_step(self) -> int:
        """The number of bytes that a one-token step reads."""
        return self._bytes(self.active_parameters)

    def _bytes(self, parameters: int) -> int:
        bits: float = world()["quantisation"][self.quantisation]
        return round(parameters * bits / 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticCosts:
    """Costs of steps on one rig."""

    bytes_per_ms: float
    overhead_ms: float
    slope: float

    def step_ms(self, model: ModelSpec, width: int = 1) -> float:
        """Milliseconds of one step of the model over `width` tokens."""
        more = self.slope * (width - 1 + (WIDE_FACTOR - 1) * max(0, width - WIDE))
        experts = min(model.parameters / model.active_parameters, 1 + EXPERT_GROWTH * (width - 1))
        sparse = model.active_parameters < model.parameters
        read_ms = model.bytes_per_step / self.bytes_per_ms
        return self.overhead_ms + read_ms * ((experts if sparse else 1.0) + more)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticDrafter:
    """The drafter of one arm: a kind of method, its depth, and a draft model if it needs one."""

    kind: str
    depth: int
    draft: ModelSpec | None = None

    def token_ms(self, costs: SyntheticCosts, target: ModelSpec) -> float:
        """Milliseconds per drafted token."""
        if self.draft is not None:
            return costs.step_ms(self.draft)
        return HEAD_STEP_SHARE * costs.step_ms(target) if self.kind == "mtp" else 0.0

    def round_ms(self, costs: SyntheticCosts, target: ModelSpec, length: Length) -> float:
        """Milliseconds of a round that drafts and verifies `length` tokens."""
        return length * self.token_ms(costs, target) + costs.step_ms(target, length + 1)


PLAIN = SyntheticDrafter(kind="none", depth=0)


def prompt_ids(task: str) -> tuple[str, ...]:
    """The prompts of a task, the same in every submission."""
    return tuple(f"{task}-{number}" for number in range(1, PROMPTS_PER_TASK + 1))


def position_acceptance(
    drafter: SyntheticDrafter, target: ModelSpec, task: str, *, shift: float = 0.0
) -> tuple[float, ...]:
    """The chance that drafted token j is accepted if token j - 1 was, for j = 1 to depth."""
    known = world()["task"][task]
    if drafter.kind in ("prompt-lookup", "ngram-simple"):
        return tuple(
            _chance(_logit(known["lookup_acceptance"]) + shift) for _ in range(drafter.depth)
        )
    first, step = _logit(known["acceptance"]) + shift, POSITION_LOGIT
    if drafter.draft is None:
        first, step = first + HEAD_FIRST_LOGIT, HEAD_POSITION_LOGIT
    else:
        family = next(each for each in world()["family"] if each["name"] == target.family)
        size = math.log(drafter.draft.parameters / target.parameters)
        first += family["acceptance"] + 0.25 * (size + 2.5)
    return tuple(_chance(first + step * position) for position in range(drafter.depth))


@cache
def rounds(drafter: SyntheticDrafter, target: ModelSpec, task: str, prompt: str) -> Rounds:
    """Every round of one generation: the same on all rigs and in all blocks."""
    pair = f"{target.name} {drafter.draft.name if drafter.draft else ''} {drafter.kind}"
    rng = random.Random(f"{pair} {drafter.depth} {prompt}")  # noqa: S311 - synthetic data
    shift = random.Random(f"{target.family} {prompt}").gauss(0, PROMPT_SPREAD)  # noqa: S311 - synthetic data
    chances = position_acceptance(drafter, target, task, shift=shift)
    fires = _fire_rate(drafter, task)
    found: list[tuple[Length, int]] = []
    produced = 1
    while produced < OUTPUT_TOKENS:
        room = min(drafter.depth, OUTPUT_TOKENS - produced - 1)
        drafted = room if rng.random() < fires else 0
        accepted = _accepted(rng, chances[:drafted])
        found.append((drafted, accepted))
        produced += accepted + 1
    return tuple(found)


def true_decomposition(
    costs: SyntheticCosts,
    target: ModelSpec,
    drafter: SyntheticDrafter,
    prompts: Sequence[tuple[str, str]],
) -> tuple[float, float]:
    """Noise-free tokens per round and R (round cost in plain tokens), over (task, prompt) pairs."""
    counts, spent = [], []
    for task, prompt in prompts:
        played = rounds(drafter, target, task, prompt)
        counts.append(len(played))
        spent.append(math.fsum(drafter.round_ms(costs, target, each) for each, _ in played))
    tokens = len(prompts) * (OUTPUT_TOKENS - 1) / sum(counts)
    return tokens, math.fsum(spent) / sum(counts) / costs.step_ms(target)


def all_prompts() -> tuple[tuple[str, str], ...]:
    """Every pair (task, prompt) of the suite, with equally many prompts per task."""
    return tuple((task, prompt) for task in FIXED_TASKS for prompt in prompt_ids(task))


def _fire_rate(drafter: SyntheticDrafter, task: str) -> float:
    looks_up = drafter.kind in ("prompt-lookup", "ngram-simple")
    rate: float = world()["task"][task]["lookup_fires"] if looks_up else 1.0
    return rate if drafter.depth else 0.0


def _accepted(rng: random.Random, chances: Sequence[float]) -> int:
    for index, chance in enumerate(chances):
        if rng.random() >= chance:
            return index
    return len(chances)


def _logit(chance: float) -> float:
    return math.log(chance / (1 - chance))


def _chance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
