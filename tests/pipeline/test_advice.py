"""The advisor says what its formula says, from the nearest evidence, and how wrong it was.

The corpus: Ada, Bob and Eve on three cards through CUDA, one 7B target, one draft at depth 4.

    voter  card  task   tokens per round   R     speedup
    ada    A     code        3.2          1.6      2.0
    bob    B     code        3.6          2.0      1.8
    eve    C     chat        2.4          1.8     4/3
"""

import math
from dataclasses import replace

import duckdb
import pytest
import scipy

from pipeline.site.advice import Knowledge
from pipeline.site.pages.knowledge import knowledge
from tests.pipeline.predictions import Advice, AdviceQuery, answer
from tests.pipeline.random_advice import answers
from tests.pipeline.tables import Example, campaign, database, one, rows

LOG_COSTS = [math.log(1.6), math.log(2.0), math.log(1.8)]


def measured(
    contributor: str, gpu: str, task: str, tokens: float, cost: float, *, seed: int = 0
) -> Example:
    return campaign(
        tokens / cost,
        task=task,
        tokens_per_round=tokens,
        round_cost=cost,
        contributor=contributor,
        gpu=gpu,
        seed=seed,
        vram_mib={"A 1": 8192, "B 2": 12288, "C 3": 8192}[gpu],
    )


@pytest.fixture(scope="module")
def three() -> duckdb.DuckDBPyConnection:
    return database(
        measured("ada", "A 1", "code", 3.2, 1.6),
        measured("bob", "B 2", "code", 3.6, 2.0),
        measured("eve", "C 3", "chat", 2.4, 1.8),
    )


@pytest.fixture(scope="module")
def known(three: duckdb.DuckDBPyConnection) -> Knowledge:
    return knowledge(three)


def asked(known: Knowledge, **changes: object) -> Advice | None:
    question = {"backend": "cuda", "size": 2, "task": "code", "model": known.models[0]} | changes
    pair = next(choice for choice in known.choices if choice.draft)
    return answer(known, AdviceQuery(**question), pair)  # type: ignore[arg-type]


def test_an_unknown_card_gets_the_mean_of_its_backend_and_the_tokens_of_the_pair(
    known: Knowledge,
) -> None:
    # R: geometric mean of 1.6, 2.0, 1.8 = 1.7926; tokens: of 3.2 and 3.6 = 3.3941.
    found = asked(known)

    assert found is not None
    assert found.round_cost == pytest.approx(1.79256, abs=1e-4)
    assert found.tokens_per_round == pytest.approx(3.39411, abs=1e-4)
    assert found.speedup == pytest.approx(3.39411 / 1.79256, abs=1e-4)
    assert (found.cost_level, found.cost_votes) == ("cost-draft", 3)
    assert (found.yield_level, found.yield_votes) == ("yield-pair", 2)


def test_its_interval_adds_both_spreads_for_one_more_machine(known: Knowledge) -> None:
    # Costs: variance of the three logs, 2 degrees of freedom, times 1 + 1/3. Tokens of the pair:
    # code has two votes (one degree of freedom), chat one; times 1 + 1/2; so t with 1 degree.
    cost = sum((x - sum(LOG_COSTS) / 3) ** 2 for x in LOG_COSTS) / 2
    tokens = (math.log(3.6) - math.log(3.2)) ** 2 / 2
    half = scipy.stats.t.ppf(0.975, 1) * math.sqrt(cost * 4 / 3 + tokens * 3 / 2)
    found = asked(known)

    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert math.log(found.high / found.low) / 2 == pytest.approx(half, abs=1e-3)
    assert found.low * found.high == pytest.approx(found.speedup**2, rel=1e-3)


def test_a_card_that_was_measured_answers_with_its_own_cost(known: Knowledge) -> None:
    # Eve measured chat only: her R of 1.8 with the tokens that the pair yields on code.
    found = asked(known, device="c-3-8-gb", memory=8)

    assert found is not None
    assert (found.cost_level, found.cost_votes) == ("cost-pair", 1)
    assert found.speedup == pytest.approx(3.39411 / 1.8, abs=1e-4)
    assert found.measured is None
    assert found.expected == found.speedup


def test_what_was_measured_here_is_expected_and_not_what_is_predicted(known: Knowledge) -> None:
    found = asked(known, device="a-1-8-gb", memory=8)

    assert found is not None
    assert found.measured is not None
    assert found.measured[0] == pytest.approx(2.0)
    assert found.speedup == pytest.approx(3.39411 / 1.6, abs=1e-4)
    assert found.expected == pytest.approx(2.0)
    slower = replace(found, measured=(1.08, 1.04, 1.12, 0.74))
    assert slower.expected == 0.74  # the whole request is what a visitor waits for


def test_memory_alone_narrows_the_cards(known: Knowledge) -> None:
    # 8 GB: Ada's 1.6 and Eve's 1.8. Another model of the size, so the pair says nothing.
    (found,) = answers(known, AdviceQuery(backend="cuda", size=2, task="code", memory=8))

    assert (found.cost_level, found.cost_votes) == ("cost-memory", 2)
    assert found.round_cost == pytest.approx(math.sqrt(1.6 * 1.8), abs=1e-4)


def test_a_mixture_of_experts_is_not_predicted_from_dense_models(known: Knowledge) -> None:
    experts = replace(known.models[0], mixture=True)

    assert asked(known, model=experts, device="a-1-8-gb", memory=8) is None
    assert answers(known, AdviceQuery(backend="cuda", size=2, task="code", model=experts)) == ()


@pytest.mark.parametrize(
    "changes", [{"backend": "vulkan"}, {"size": 4, "model": None}, {"task": "math"}]
)
def test_where_nothing_is_near_there_is_no_answer(
    known: Knowledge, changes: dict[str, object]
) -> None:
    assert asked(known, **changes) is None


def test_another_model_of_the_size_is_answered_by_method_and_depth(known: Knowledge) -> None:
    (found,) = answers(known, AdviceQuery(backend="cuda", size=2, task="code"))

    assert found.choice.draft is None
    assert (found.cost_level, found.yield_level) == ("cost-backend", "yield-method")


def test_a_target_in_another_quantisation_makes_a_drafted_token_cheaper(known: Knowledge) -> None:
    # Ada's pair costs 1.6. With twice the bytes a step, each of four drafted tokens costs half as
    # much of it: 1 + 4 d / s becomes 1 + 2 d / s.
    (model,) = known.models
    (pair,) = (choice for choice in known.choices if choice.draft)
    assert model.step_bytes is not None
    assert pair.draft_bytes is not None
    heavier = replace(model, quantisation="f16", step_bytes=2 * model.step_bytes)
    question = AdviceQuery(
        backend="cuda", size=model.size, task="code", device="a-1-8-gb", memory=8, model=heavier
    )

    found = answer(known, question, pair)

    assert found is not None
    assert found.cost_level == "cost-device"
    share = pair.draft_bytes / model.step_bytes
    assert found.round_cost == pytest.approx(1.6 * (1 + 2 * share) / (1 + 4 * share), abs=1e-4)


def test_a_voter_is_predicted_from_the_others_alone(three: duckdb.DuckDBPyConnection) -> None:
    # Ada without Ada: R of the pair from Bob and Eve, 1.89737; tokens from Bob, 3.6: 1.89737.
    # Measured 2.0, which is 5.409 % more.
    found = one(
        three,
        "select advised_speedup, advised_round_cost, cost_level, yield_level, advised_error,"
        " advised_low from advice_prediction where voter = 'ada'",
    )

    assert found[:2] == (pytest.approx(1.89737, abs=1e-5), pytest.approx(1.89737, abs=1e-5))
    assert found[2:4] == ("cost-draft", "yield-pair")
    assert found[4] == pytest.approx(0.05409, abs=1e-5)
    assert found[5] is None  # without Ada no two voters share a pool of tokens


def test_a_task_that_nobody_else_has_measured_is_not_predicted(
    three: duckdb.DuckDBPyConnection,
) -> None:
    assert one(
        three, "select advised_speedup, yield_level from advice_prediction where task = 'chat'"
    ) == (None, None)


def test_the_error_is_over_those_that_could_be_predicted(
    three: duckdb.DuckDBPyConnection,
) -> None:
    # Bob without Bob: tokens 3.2, R = sqrt(1.6 * 1.8) = 1.69706, 1.88562; measured 1.8: 4.757 %.
    found = rows(
        three,
        "select cost_level, predictions, voters, median_error from advice_error order by all",
    )

    middle = pytest.approx((0.05409 + 0.04757) / 2, abs=1e-5)
    assert found == [("cost-draft", 2, 2, middle), (None, 2, 2, middle)]


def test_tasks_of_one_voter_are_left_out_together() -> None:
    # Both tasks of Ada are all there is: nothing predicts the other.
    connection = database(
        measured("ada", "A 1", "code", 3.2, 1.6), measured("ada", "A 1", "chat", 2.4, 1.6, seed=1)
    )

    assert rows(connection, "select distinct advised_speedup from advice_prediction") == [(None,)]
    assert rows(connection, "from advice_error") == []


def test_voters_who_agree_exactly_say_nothing_about_how_voters_differ() -> None:
    # Without Bob, Ada and Eve are left, who measured the same: no spread instead of one of zero.
    connection = database(
        measured("ada", "A 1", "code", 3.2, 1.6),
        measured("bob", "B 2", "code", 3.6, 2.0),
        measured("eve", "C 3", "code", 3.2, 1.6),
    )

    left_out = "select distinct left_out is not null from advice_spread where level = 'cost-draft'"
    assert rows(connection, left_out) != []
    assert one(connection, "select count(*) from advice_spread where variance = 0") == (0,)
    assert one(connection, "select count(*) from advice_left_out where not isfinite(score)") == (0,)


def test_imported_evidence_teaches_nothing() -> None:
    connection = database(
        campaign(2.0, task="code", tier="imported", tokens_per_round=3.2, round_cost=1.6)
    )

    assert rows(connection, "from advice_observation") == []


def test_an_empty_corpus_is_known_to_be_empty(empty: duckdb.DuckDBPyConnection) -> None:
    known = knowledge(empty)

    assert (known.devices, known.choices, known.pools, known.errors) == ((), (), {}, {})
