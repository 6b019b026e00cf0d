"""Draw the rigs of a synthetic collection and their owners' campaigns from one seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.synthetic_truth import ModelSpec, SyntheticCosts, world

BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)
BUILDS = (6100, 6350, 6600, 6850)
# From the third build on, the cost of verification is multiplied by one of these factors.
STEPS = (0.55, 1.6)
STEP_BUILD = BUILDS[2]
MACHINES_ON_PROCESSOR, MACHINES_OVER_BUILDS = 7, 5  # every n-th machine
MACHINES_PER_OWNER = 3
DAILY_BUILDS = 4
BYTES_PER_MIB = 1024 * 1024
ROOM_SHARE = 0.9  # share of the memory for models; the rest is for the context and the desktop


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticRig:
    """A machine with one backend and build; `gpu` and `processor` are from `synthetic.toml`."""

    key: str
    machine: int
    gpu: dict[str, Any] | None
    processor: dict[str, Any]
    backend: str
    build_number: int
    costs: SyntheticCosts
    owner: str
    step: float | None = None

    @property
    def device_name(self) -> str:
        return str((self.gpu or self.processor)["name"])

    @property
    def room_bytes(self) -> float:
        """Memory available for models."""
        mib = self.gpu["vram_mib"] if self.gpu else self.processor["ram_mib"]
        return float(mib) * BYTES_PER_MIB * ROOM_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One campaign that will become one submission."""

    rig: SyntheticRig
    target: ModelSpec
    contributor: str | None
    began: datetime
    seed: int


def visits(rigs: int, seed: int) -> Iterator[Visit]:
    """The campaigns on `rigs` rigs, in the order of the machines."""
    rng = random.Random(seed)  # noqa: S311 - synthetic data
    number, made = 0, 0
    while made < rigs:
        targets: dict[str, tuple[ModelSpec, ...]] = {}
        for rig in _machine(rng, number):
            if made == rigs:
                return
            made += 1
            # One machine keeps its targets, so that backends and builds can be compared.
            chosen = targets.setdefault("", _targets(rng, rig))
            yield from _visits_of(rng, rig, chosen)
        number += 1


def _machine(rng: random.Random, number: int) -> Iterator[SyntheticRig]:
    """The rigs of one machine: its backends, or one backend over several builds."""
    processor = world()["processor"][number % len(world()["processor"])]
    gpus = world()["gpu"]
    on_processor = number % MACHINES_ON_PROCESSOR == MACHINES_ON_PROCESSOR - 1
    gpu = None if on_processor else gpus[number % len(gpus)]
    over_builds = number % MACHINES_OVER_BUILDS == MACHINES_OVER_BUILDS - 1
    # The first machine with each card has all backends; later machines often have only one.
    backends = gpu["backends"] if gpu else ["cpu"]
    backends = backends if number < len(gpus) or rng.random() < 0.3 else backends[:1]
    builds = BUILDS if over_builds else (rng.choice(BUILDS[1:]),)
    own = {"efficiency": rng.lognormvariate(0, 0.04), "slope": rng.lognormvariate(0, 0.08)}
    step = STEPS[number // MACHINES_OVER_BUILDS % len(STEPS)] if over_builds else None
    for backend in backends[:1] if over_builds else backends:
        for build in builds:
            after_step = step if step and build >= STEP_BUILD else 1.0
            yield SyntheticRig(
                key=f"machine-{number:03}-{backend}-b{build}",
                machine=number,
                gpu=gpu,
                processor=processor,
                backend=backend,
                build_number=build,
                costs=_costs(gpu or processor, backend, own, after_step),
                owner=f"synthetic-{number // MACHINES_PER_OWNER:02}",
                step=step,
            )


def _costs(
    device: dict[str, Any], backend: str, own: dict[str, float], step: float
) -> SyntheticCosts:
    known = world()["backend"][backend]
    return SyntheticCosts(
        bytes_per_ms=device["bandwidth_gbs"] * 1e6 * known["efficiency"] * own["efficiency"],
        overhead_ms=known["overhead_ms"],
        slope=known["slope"] / device["compute"] * own["slope"] * step,
    )


def _targets(rng: random.Random, rig: SyntheticRig) -> tuple[ModelSpec, ...]:
    """One to three targets that fit into memory; larger targets are likelier."""
    fitting = [each for each in models() if each.file_bytes < rig.room_bytes and _is_target(each)]
    if rig.gpu is None:  # large models are too slow on a processor
        fitting = [each for each in fitting if each.bytes_per_step < 5e9]
    weights = [each.file_bytes**0.5 for each in fitting]
    count = 1 if rig.step else rng.choice((1, 2, 2, 3))
    return tuple(dict.fromkeys(rng.choices(fitting, weights, k=count)))


def models() -> tuple[ModelSpec, ...]:
    """Every model in every quantisation."""
    return tuple(
        ModelSpec(
            family=family["name"],
            parameters=round(size * 1e9),
            active_parameters=round(min(size, family.get("active_b", size)) * 1e9),
            quantisation=quantisation,
            has_head=family["mtp"] and size == max(family["sizes_b"]),
        )
        for family in world()["family"]
        for size in family["sizes_b"]
        for quantisation in world()["quantisation"]
    )


def _is_target(model: ModelSpec) -> bool:
    return model.parameters >= 3e9


def _visits_of(
    rng: random.Random, rig: SyntheticRig, targets: tuple[ModelSpec, ...]
) -> Iterator[Visit]:
    """Yield one or two campaigns per target; some are anonymous."""
    age = (rig.build_number - BUILDS[0]) / DAILY_BUILDS
    for target in targets:
        for again in range(2 if rng.random() < 0.25 else 1):
            began = BEGIN + timedelta(days=age + 7 * again, minutes=rng.randrange(10_000))
            anonymous = rng.random() < 0.1
            yield Visit(
                rig=rig,
                target=target,
                contributor=None if anonymous else rig.owner,
                began=began,
                seed=rng.randrange(2**32),
            )
