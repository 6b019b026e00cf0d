"""A simulated world for the advisor that is built differently from `bench.synthetic`.

Bandwidth and arithmetic of devices follow a power law; a step takes the longer of both (smoothly)
and not their sum; families of models differ in what a draft is worth on each task; quantisations
cost extra arithmetic; contributors and machines have heavy-tailed offsets and noise of their own.
Two of five quantisations of each model are kept for those who ask.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.site.advice import key
from schemas.vocabulary import FIXED_TASKS, METHODS, SIZES

Observation = dict[str, Any]

DEVICES, FAMILIES, TARGETS = 24, 5, 14
BITS = {"Q2_K": 3.0, "Q4_K_M": 4.8, "Q5_K_M": 5.7, "Q8_0": 8.5, "F16": 16.0}
# What unpacking a quantisation costs, in operations of the matrix product.
UNPACKING = {"Q2_K": 1.6, "Q4_K_M": 1.3, "Q5_K_M": 1.5, "Q8_0": 1.1, "F16": 1.0}
SIZES_B = (0.6, 1.7, 3, 4, 7, 8, 9, 13, 14, 24, 27, 32, 70)
BACKENDS = {"cuda": 0.85, "vulkan": 0.7, "metal": 0.8, "cpu": 0.6}
SHARPNESS = 3  # of the corner between bandwidth and arithmetic


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldModel:
    """A target in any quantisation."""

    name: str
    family: int
    billions: float
    known: tuple[str, ...]

    def step_bytes(self, quantisation: str) -> int:
        return round(self.billions * 1e9 * BITS[quantisation] / 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDevice:
    """Bytes and operations per second, and what a step costs whatever it computes."""

    name: str
    backend: str
    bandwidth: float
    arithmetic: float
    overhead_s: float
    memory: int

    def step_s(self, billions: float, quantisation: str, width: float) -> float:
        """One step over `width` tokens."""
        read = billions * 1e9 * BITS[quantisation] / 8 / self.bandwidth
        work = 2e9 * billions * width * UNPACKING[quantisation] / self.arithmetic
        corner = (read**SHARPNESS + work**SHARPNESS) ** (1 / SHARPNESS)
        return self.overhead_s + float(corner)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldArm:
    """A method at a depth, with the size of its draft model if it has one."""

    method: str
    depth: int
    draft_billions: float | None = None


class AdvisorWorld:
    """Devices, models and what drafts are worth; contributors are drawn from it."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.devices = [_device(rng, number) for number in range(DEVICES)]
        self.models = [_model(rng, number) for number in range(TARGETS)]
        self.task = dict(zip(FIXED_TASKS, rng.uniform(0.35, 0.8, len(FIXED_TASKS)), strict=True))
        self.family = rng.normal(0, 0.35, (FAMILIES, len(FIXED_TASKS)))
        self.repeats = dict(zip(FIXED_TASKS, rng.beta(1, 4, len(FIXED_TASKS)), strict=True))

    def observations(self, prefix: str, contributors: int, *, unseen: bool) -> list[Observation]:
        """What so many contributors measured; `unseen`: in quantisations that no corpus holds."""
        found: list[Observation] = []
        for number in range(contributors):
            found += self._contributor(f"{prefix}{number}", unseen=unseen)
        return found

    def _contributor(self, name: str, *, unseen: bool) -> Iterator[Observation]:
        rng = self.rng
        habit = 0.035 * float(rng.standard_t(4))
        for device in rng.choice(len(self.devices), size=1 + int(rng.geometric(0.6)) % 3):
            machine, noise = 0.025 * float(rng.standard_t(4)), 0.02 * float(rng.lognormal(0, 0.7))
            place = self.devices[int(device)]
            fitting = [
                (model, quantisation)
                for model in self.models
                for quantisation in BITS
                if (quantisation in model.known) is not unseen
                and model.step_bytes(quantisation) < 0.8e9 * place.memory
            ]
            chosen = rng.permutation(len(fitting))[: int(rng.integers(1, 4))]
            for index in chosen:
                yield from self._campaign(name, place, *fitting[index], habit + machine, noise)

    def _campaign(
        self,
        voter: str,
        device: WorldDevice,
        model: WorldModel,
        quantisation: str,
        offset: float,
        noise: float,
    ) -> Iterator[Observation]:
        rng = self.rng
        small = max(0.1, round(model.billions / (8 if model.family % 2 else 16), 1))
        arms = (
            WorldArm(method="prompt-lookup", depth=8),
            WorldArm(method="draft-model", depth=4, draft_billions=small),
            WorldArm(method="draft-model", depth=int(rng.choice((2, 8))), draft_billions=small),
            WorldArm(method="mtp", depth=2),
        )
        for arm in arms[: 4 if model.family == 0 else 3]:
            for task in FIXED_TASKS:
                tokens, rounds = self._yield(model, arm, task)
                cost = _cost(device, model, quantisation, arm, rounds)
                tokens *= math.exp(rng.normal(0, 0.03) + 0.3 * noise * rng.standard_t(3))
                cost *= math.exp(offset + noise * float(rng.standard_t(3)))
                yield _observation(voter, device, model, quantisation, arm, task, tokens, cost)

    def _yield(self, model: WorldModel, arm: WorldArm, task: str) -> tuple[float, float]:
        """Tokens a round, and the share of rounds that draft."""
        at = FIXED_TASKS.index(task)
        if arm.method == "prompt-lookup":
            share = self.repeats[task]
            return 1 + share * 3.5 * math.exp(0.3 * self.family[model.family, at]), share
        size = math.log((arm.draft_billions or model.billions / 20) / model.billions)
        logit = math.log(self.task[task] / (1 - self.task[task])) + 0.2 * (size + 2.5)
        chance = 1 / (1 + math.exp(-logit - self.family[model.family, at]))
        return sum(chance**position for position in range(arm.depth + 1)), 1.0


def _device(rng: np.random.Generator, number: int) -> WorldDevice:
    backend = list(BACKENDS)[number % len(BACKENDS)]
    scale = float(rng.pareto(1.6) + 1) * (30e9 if backend == "cpu" else 150e9)
    return WorldDevice(
        name=f"{backend}-{number}",
        backend=backend,
        bandwidth=min(scale, 3e12) * BACKENDS[backend],
        arithmetic=scale * (25 if backend == "cpu" else 90) * float(rng.lognormal(0, 0.4)),
        overhead_s=float(rng.lognormal(math.log(4e-4), 0.6)),
        memory=int(rng.choice((8, 12, 16, 24, 32, 48))),
    )


def _model(rng: np.random.Generator, number: int) -> WorldModel:
    billions = float(SIZES_B[number % len(SIZES_B)])
    family = int(rng.integers(FAMILIES))
    known = tuple(str(each) for each in rng.choice(list(BITS), size=3, replace=False))
    return WorldModel(
        name=f"m{family}-{number}-{billions:g}b", family=family, billions=billions, known=known
    )


def _cost(
    device: WorldDevice, model: WorldModel, quantisation: str, arm: WorldArm, share: float
) -> float:
    """R: what a round costs in plain steps."""
    plain = device.step_s(model.billions, quantisation, 1)
    drafting = 0.0
    if arm.draft_billions:
        drafting = arm.depth * device.step_s(arm.draft_billions, "Q8_0", 1)
    elif arm.method == "mtp":
        drafting = arm.depth * 0.06 * plain
    full = drafting + device.step_s(model.billions, quantisation, arm.depth + 1)
    return (share * full + (1 - share) * plain) / plain


def _observation(  # noqa: PLR0913, PLR0917 - the words of one row
    voter: str, device: WorldDevice, model: WorldModel, quantisation: str,
    arm: WorldArm, task: str, tokens: float, cost: float,
) -> Observation:  # fmt: skip
    order = next(
        at
        for at, size in enumerate(SIZES.values())
        if size.below is None or model.billions * 1e9 < size.below
    )
    draft = f"draft-{arm.draft_billions:g}b" if arm.draft_billions else "no-draft"
    step = model.step_bytes(quantisation)
    draft_bytes = round(arm.draft_billions * 1e9 * BITS["Q8_0"] / 8) if arm.draft_billions else None
    slug = quantisation.lower().replace("_", "-")
    place = key(device.name, device.backend, model.name, slug, draft, arm.method, arm.depth, task)
    return {
        "observation": f"{place}@{voter}", "cell": place, "voter": voter,
        "device": device.name, "device_label": device.name,
        "vram_gib": None if device.backend == "cpu" else device.memory,
        "backend": device.backend, "target": model.name, "target_label": model.name,
        "quantisation": quantisation, "size_class": str(order), "size_order": order,
        "method": arm.method, "method_label": arm.method, "depth": arm.depth,
        "draft_label": draft if arm.draft_billions else None, "draft_slug": draft,
        "quantisation_slug": slug, "drafts_always": METHODS[arm.method].every_round, "task": task,
        "speedup": tokens / cost, "tokens_per_round": tokens, "round_cost": cost,
        "bytes_cost": 1 + arm.depth * draft_bytes / step if draft_bytes else 1.0,
        "mixture": False, "step_bytes": step, "draft_bytes": draft_bytes, "predicted_speedup": None,
        "submission_list": ["0"],
    }  # fmt: skip
