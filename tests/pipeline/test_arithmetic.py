"""The page scripts compute what Python computes, on a thousand random inputs each."""

import json
import random
import shutil
import subprocess
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import orjson
import pytest

from estimates.requests import Costs, break_even_tokens, whole_request
from pipeline.site.advice import (
    Choice,
    Knowledge,
    KnownDevice,
    KnownModel,
    PastError,
    Pool,
    Question,
    Spread,
    answers,
    depth_word,
    key,
)
from pipeline.site.pages.what_if import Settings, round_cost, speedup, tokens_per_round

SCRIPT = Path("site_src/assets/javascripts/arithmetic.js")
INPUTS = 1000
BACKENDS, TASKS, MEMORIES = ("cuda", "cpu"), ("code", "chat"), (8, 12)
RUN = """
import { readFileSync } from "node:fs";
import * as arithmetic from "./arithmetic.mjs";
const { answers, breakEvenTokens, roundCost, speedup, tokensPerRound, wholeRequest } = arithmetic;
const { known, questions, settings, requests } = JSON.parse(readFileSync(0, "utf8"));
const ask = (question) => answers(known, { ...question, method: "any" });
const advised = questions.map((question) => ask(question).map((each) => ({
  choice: known.choices.indexOf(each.choice),
  figures: [each.speedup, each.low, each.high, each.roundCost, each.tokensPerRound],
  levels: [each.cost.level, each.gain.level],
  votes: [each.cost.pool.votes, each.gain.pool.votes],
  nearest: each.nearest,
  error: each.error,
  measured: each.measured,
})));
const computed = settings.map((each) => [
  tokensPerRound(each.acceptance, each.depth),
  roundCost(each, each.depth),
  speedup(each, each.depth),
]);
const whole = requests.map(({ costs, prompt, answer }) => [
  wholeRequest(costs, prompt, answer), breakEvenTokens(costs, prompt),
]);
process.stdout.write(JSON.stringify({ advised, computed, whole }));
"""


def nearly(value: float | None) -> object:
    return None if value is None else pytest.approx(value, rel=1e-12)


def figure(rng: random.Random) -> float:
    return round(rng.uniform(-0.5, 1.5), 5)


def all_choices() -> tuple[tuple[KnownDevice, ...], tuple[KnownModel, ...], tuple[Choice, ...]]:
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
            file=name,
            step_bytes=step_bytes,
        )
        for size, (name, step_bytes) in enumerate((("small", 4_000), ("large", None)))
    )
    methods = (("draft-model", 2, "all"), ("draft-model", 4, "all"), ("prompt-lookup", 8, "task"))
    choices = tuple(
        Choice(
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


def pool_names(devices: tuple[KnownDevice, ...], choices: tuple[Choice, ...]) -> set[str]:
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
        pools={
            name: Pool(
                votes=rng.randint(1, 5),
                mean=figure(rng),
                bytes_mean=figure(rng),
                bytes_variance=abs(figure(rng)),
                nearest=tuple(rng.sample(range(9), rng.randint(1, 3))),
            )
            for name in present
        },
        spreads={
            f"{kind}|{method}": Spread(variance=rng.uniform(0, 0.05), freedom=rng.randint(1, 9))
            for kind, method in product(kinds, ("draft-model", "prompt-lookup"))
            if rng.random() < 0.8
        },
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
        measured={name: (figure(rng), None, None) for name in sorted(cells) if rng.random() < 0.5},
        steps={},
    )


def random_question(rng: random.Random, known: Knowledge) -> Question:
    device = rng.choice((*known.devices, None))
    model = rng.choice((*known.models, None))
    return Question(
        backend=rng.choice(BACKENDS),
        size=model.size if model else rng.randrange(3),
        task=rng.choice(TASKS),
        device=device.id if device else None,
        memory=device.memory if device else rng.choice((*MEMORIES, None)),
        model=model,
    )


@pytest.fixture(scope="module")
def rng() -> random.Random:
    return random.Random(20261121)  # noqa: S311 - inputs of a test


@pytest.fixture(scope="module")
def known(rng: random.Random) -> Knowledge:
    return random_knowledge(rng)


@pytest.fixture(scope="module")
def questions(rng: random.Random, known: Knowledge) -> list[Question]:
    return [random_question(rng, known) for _ in range(INPUTS)]


@pytest.fixture(scope="module")
def settings(rng: random.Random) -> list[Settings]:
    drawn = [
        Settings(
            acceptance=rng.random(),
            depth=rng.randint(1, 16),
            draft_cost=rng.random(),
            verify_cost=rng.random(),
        )
        for _ in range(INPUTS - 1)
    ]
    return [*drawn, replace(drawn[0], acceptance=1.0)]


@pytest.fixture(scope="module")
def requests(rng: random.Random) -> list[tuple[Costs, int, int]]:
    """Costs, and the lengths of prompt and answer; in some the arm saves, in some it never does."""
    return [
        (
            Costs(
                baseline_prompt_token_ms=rng.uniform(0.01, 5),
                prompt_token_ms=rng.uniform(0.01, 15),
                baseline_token_ms=rng.uniform(0.5, 100),
                token_ms=rng.uniform(0.5, 100),
            ),
            rng.randint(0, 100_000),
            rng.randint(2, 10_000),
        )
        for _ in range(INPUTS)
    ]


@pytest.fixture(scope="module")
def script(
    known: Knowledge,
    questions: list[Question],
    settings: list[Settings],
    requests: list[tuple[Costs, int, int]],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, list[object]]:
    """What the page scripts make of the same inputs."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("NO NODE FOUND: the arithmetic of the page scripts was not run")
    folder = tmp_path_factory.mktemp("script")
    shutil.copy(SCRIPT, folder / "arithmetic.mjs")
    (folder / "run.mjs").write_text(RUN)
    asked = [dict(zip(("costs", "prompt", "answer"), each, strict=True)) for each in requests]
    given = orjson.dumps(
        {"known": known, "questions": questions, "settings": settings, "requests": asked}
    )
    done = subprocess.run(
        [node, folder / "run.mjs"], input=given, capture_output=True, check=True, timeout=120
    )
    answered: dict[str, list[object]] = json.loads(done.stdout)
    return answered


def test_the_advisor_answers_alike(
    script: dict[str, list[object]], known: Knowledge, questions: list[Question]
) -> None:
    expected = [
        [
            {
                "choice": known.choices.index(each.choice),
                "figures": list(
                    map(
                        nearly,
                        (each.speedup, each.low, each.high, each.round_cost, each.tokens_per_round),
                    )
                ),
                "levels": [each.cost_level, each.yield_level],
                "votes": [each.cost_votes, each.yield_votes],
                "nearest": list(each.nearest),
                "error": asdict(each.error) if each.error else None,
                "measured": list(each.measured) if each.measured else None,
            }
            for each in answers(known, question)
        ]
        for question in questions
    ]

    assert script["advised"] == expected
    assert sum(map(len, expected)) > INPUTS
    assert any(not answer for answer in expected)


def test_whole_requests_take_as_long(
    script: dict[str, list[object]], requests: list[tuple[Costs, int, int]]
) -> None:
    assert script["whole"] == [
        [nearly(whole_request(costs, prompt, answer)), nearly(break_even_tokens(costs, prompt))]
        for costs, prompt, answer in requests
    ]


def test_what_if_computes_alike(script: dict[str, list[object]], settings: list[Settings]) -> None:
    assert script["computed"] == [
        pytest.approx(
            [
                tokens_per_round(each.acceptance, each.depth),
                round_cost(each.depth, each.draft_cost, each.verify_cost),
                speedup(each, each.depth),
            ],
            rel=1e-12,
        )
        for each in settings
    ]
