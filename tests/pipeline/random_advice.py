"""Random pools and questions of every kind for the advisor."""

import random
from collections.abc import Iterator
from itertools import product

from pipeline.site.advice import (
    Configuration,
    Knowledge,
    KnownDevice,
    KnownModel,
    PastError,
    Pool,
    Spread,
    depth_word,
    key,
)
from tests.pipeline.predictions import Advice, AdviceQuery, answer

BACKENDS, TASKS, MEMORIES = ("cuda", "cpu"), ("code", "chat"), (8, 12)


def figure(rng: random.Random) -> float:
    return round(rng.uniform(-0.5, 1.5), 5)


def all_choices() -> tuple[
    tuple[KnownDevice, ...], tuple[KnownModel, ...], tuple[Configuration, ...]
]:
    """Three cards, two models, and three methods with and without drafts."""
    devices = tuple(
        KnownDevice(id=name, label=name, memory=memory, backends=BACKENDS, address="")
        for name, memory in (("a", 8), ("b", 12), ("c", None))
    )
    models = tuple(
        KnownModel(
            id=name,
            target=name,
            quantisation="q4",
            label=name,
            size=size,
            step_bytes=step_bytes,
            mixture=name == "experts",
        )
        for size, (name, step_bytes) in enumerate(
            (("small", 4_000), ("large", None), ("experts", 4_000))
        )
    )
    methods = (("draft-model", 2, "all"), ("draft-model", 4, "all"), ("prompt-lookup", 8, "task"))
    choices = tuple(
        Configuration(
            method=method,
            label=method,
            depth=depth,
            scope=scope,
            draft=draft,
            draft_label=label,
            targets=("small",) if draft else (),
            draft_bytes=300 if label else None,
        )
        for (method, depth, scope), (draft, label) in product(
            methods, (("tiny", "Tiny"), ("no-draft", None), (None, None))
        )
    )
    return devices, models, choices


def pool_names(devices: tuple[KnownDevice, ...], choices: tuple[Configuration, ...]) -> set[str]:
    """The keys of every kind of pool that these cards and choices could have."""
    names: set[str] = set()
    for choice, task, backend in product(choices, TASKS, BACKENDS):
        depth = depth_word(choice.depth)
        scope = "all" if choice.scope == "all" else task
        how = key(choice.method, depth, scope)
        for size, target in enumerate(("small", "large")):
            pair = key(backend, target, "q4", choice.draft, how)
            names |= {f"cost-pair|{device.id}|{pair}" for device in devices} | {
                f"cost-draft|{pair}"
            }
            names |= {f"cost-device|{device.id}|{backend}|{size}|{how}" for device in devices}
            names |= {f"cost-memory|{memory}|{backend}|{size}|{how}" for memory in MEMORIES}
            names |= {f"cost-backend|{backend}|{size}|{how}"}
            names |= {f"yield-pair|{target}|{choice.draft}|{choice.method}|{depth}|{task}"}
        names |= {f"yield-method|{choice.method}|{depth}|{task}"}
    return names


def random_knowledge(rng: random.Random) -> Knowledge:
    """Pools of every kind of key, two in three of them there, over three cards and two models."""
    devices, models, choices = all_choices()
    names = pool_names(devices, choices)
    present = [name for name in sorted(names) if rng.random() < 0.66]
    kinds = sorted({name.partition("|")[0] for name in names})
    cells = {
        key(
            device.id, backend, "small", "q4", choice.draft, choice.method, f"n{choice.depth}", task
        )
        for device, backend, choice, task in product(devices, BACKENDS, choices, TASKS)
        if choice.draft
    }
    return Knowledge(
        devices=devices,
        models=models,
        tasks=tuple((task, task) for task in TASKS),
        choices=choices,
        pools=_pools(rng, present),
        spreads=_spreads(rng, kinds),
        quantiles={str(freedom): rng.uniform(2, 13) for freedom in range(1, 10)},
        errors={
            f"{cost}|{gain}": PastError(
                predictions=3,
                voters=2,
                median_error=0.1,
                high_error=0.2,
                with_interval=0,
                held=None,
            )
            for cost, gain in product(kinds[:3], kinds[-2:])
        },
        submissions=(),
        measured={
            name: (figure(rng), None, None, rng.choice((None, figure(rng))))
            for name in sorted(cells)
            if rng.random() < 0.5
        },
    )


def _pools(rng: random.Random, present: list[str]) -> dict[str, Pool]:
    return {
        name: Pool(
            votes=rng.randint(1, 5),
            mean=figure(rng),
            bytes_mean=figure(rng),
            bytes_variance=abs(figure(rng)),
            nearest=tuple(rng.sample(range(9), rng.randint(1, 3))),
        )
        for name in present
    }


def _spreads(rng: random.Random, kinds: list[str]) -> dict[str, Spread]:
    return {
        f"{kind}|{method}": Spread(variance=rng.uniform(0, 0.05), freedom=rng.randint(1, 9))
        for kind, method in product(kinds, ("draft-model", "prompt-lookup"))
        if rng.random() < 0.8
    }


def random_question(rng: random.Random, known: Knowledge) -> AdviceQuery:
    device = rng.choice((*known.devices, None))
    model = rng.choice((*known.models, None))
    return AdviceQuery(
        backend=rng.choice(BACKENDS),
        size=model.size if model else rng.randrange(3),
        task=rng.choice(TASKS),
        device=device.id if device else None,
        memory=device.memory if device else rng.choice((*MEMORIES, None)),
        model=model,
    )


def answers(known: Knowledge, question: AdviceQuery) -> tuple[Advice, ...]:
    """What is to be expected of every choice that something near is known about, best first."""
    found = (answer(known, question, choice) for choice in choices(known, question))
    return tuple(sorted((each for each in found if each), key=lambda each: -each.expected))


def choices(known: Knowledge, question: AdviceQuery) -> Iterator[Configuration]:
    """The pairs measured with this target, and for other methods and depths the method alone."""
    target = question.model.target if question.model else None
    pairs = [choice for choice in known.choices if target in choice.targets]
    covered = {(choice.method, choice.depth) for choice in pairs}
    yield from pairs
    for choice in known.choices:
        if choice.draft is None and (choice.method, choice.depth) not in covered:
            yield choice
