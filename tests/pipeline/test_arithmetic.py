"""The page scripts and Python compute the same values, on a thousand random inputs each."""

import random
from dataclasses import replace
from typing import Any

import orjson
import pytest

from estimates.requests import Costs, whole_request
from pipeline.site.pages.how_it_works import WhatIfInputs, round_cost, speedup, tokens_per_round
from tests import scripts

INPUTS = 1000
RUN = """
import {
  breakEvenTokens, roundCost, speedup, tokensPerRound, wholeRequest,
} from "./arithmetic.js";
const computed = (each) => [
  tokensPerRound(each.acceptance, each.depth),
  roundCost(each, each.depth),
  speedup(each, each.depth),
];
const whole = ({ costs, prompt, answer }) => [
  wholeRequest(costs, prompt, answer), breakEvenTokens(costs, prompt),
];
const answer = ({ settings, requests }) => ({
  computed: settings.map(computed),
  whole: requests.map(whole),
});
"""


def nearly(value: float | None) -> object:
    return None if value is None else pytest.approx(value, rel=1e-12)


@pytest.fixture(scope="module")
def rng() -> random.Random:
    return random.Random(20261121)  # noqa: S311 - inputs of a test


@pytest.fixture(scope="module")
def settings(rng: random.Random) -> list[WhatIfInputs]:
    drawn = [
        WhatIfInputs(
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
    """Costs, and lengths of prompt and answer; in some the arm saves time, in others never."""
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
    settings: list[WhatIfInputs],
    requests: list[tuple[Costs, int, int]],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, list[Any]]:
    """The values of the page scripts for the same inputs."""
    asked = [dict(zip(("costs", "prompt", "answer"), each, strict=True)) for each in requests]
    given = orjson.dumps({"settings": settings, "requests": asked})
    folder = tmp_path_factory.mktemp("script")
    answered: dict[str, list[Any]] = scripts.run(folder, RUN, orjson.loads(given))
    return answered


def test_the_script_computes_the_same_whole_requests(
    script: dict[str, list[Any]], requests: list[tuple[Costs, int, int]]
) -> None:
    assert script["whole"] == [
        [nearly(whole_request(costs, prompt, answer)), nearly(break_even(costs, prompt))]
        for costs, prompt, answer in requests
    ]


def break_even(costs: Costs, prompt_tokens: int) -> float | None:
    """The closed form: 1 + extra reading time / time saved per token.

    `None` if no token saves time, 1 if reading costs no extra time.
    """
    saved_ms = costs.baseline_token_ms - costs.token_ms
    extra_ms = (costs.prompt_token_ms - costs.baseline_prompt_token_ms) * prompt_tokens
    return None if saved_ms <= 0 else 1 + max(0.0, extra_ms) / saved_ms


def test_at_the_break_even_both_requests_take_as_long(
    script: dict[str, list[Any]], requests: list[tuple[Costs, int, int]]
) -> None:
    lengths = [found[1] for found in script["whole"]]

    assert [
        whole_request(costs, prompt, length)
        for (costs, prompt, _), length in zip(requests, lengths, strict=True)
        if length is not None and length > 1
    ] == pytest.approx([1.0] * sum(each is not None and each > 1 for each in lengths))


def test_the_what_if_script_computes_the_same_values(
    script: dict[str, list[Any]], settings: list[WhatIfInputs]
) -> None:
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
