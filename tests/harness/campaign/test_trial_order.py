"""The order of trials is balanced, paired and reproducible."""

from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from estimates.running_order import balanced_orders
from harness.campaign.model import ArmPlan
from harness.campaign.trial_order import order_name, plan
from schemas.method import NO_SPECULATION
from tests.harness.campaigns import BASELINE, DRAFT, campaign


def test_two_arms_alternate_as_a_b_then_b_a() -> None:
    assert balanced_orders(["a", "b"]) == [["a", "b"], ["b", "a"]]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_every_arm_takes_every_position_and_follows_every_other_equally_often(
    count: int,
) -> None:
    arms = "abcdef"[:count]

    orders = balanced_orders(arms)

    positions = Counter((position, arm) for row in orders for position, arm in enumerate(row))
    followers = Counter(pair for row in orders for pair in pairwise(row))
    assert all(sorted(row) == sorted(arms) for row in orders)
    assert len(positions) == count * count
    assert len(set(positions.values())) == 1
    assert len(followers) == count * (count - 1)
    assert len(set(followers.values())) == 1


def test_every_arm_answers_every_prompt_once_in_every_block() -> None:
    trials = plan(campaign(prompts=3, blocks=2))

    keys = Counter((trial.arm, trial.prompt, trial.block) for trial in trials)
    assert len(trials) == 3 * 3 * 2
    assert set(keys.values()) == {1}
    assert [trial.order for trial in trials] == list(range(18))


def test_arms_of_one_prompt_run_next_to_each_other() -> None:
    trials = plan(campaign(prompts=4, blocks=1, arms=(BASELINE, DRAFT)))

    pairs = [(trials[i].prompt, trials[i + 1].prompt) for i in range(0, 8, 2)]
    assert all(first == second for first, second in pairs)


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    assert plan(campaign(prompts=6, seed=1)) == plan(campaign(prompts=6, seed=1))
    assert plan(campaign(prompts=6, seed=1)) != plan(campaign(prompts=6, seed=2))


def test_the_order_has_the_name_that_the_format_knows() -> None:
    assert [order_name(arms) for arms in (1, 2, 3)] == ["sequential", "abba", "latin-square"]


def test_an_arm_that_reloads_the_target_is_last_and_first_in_alternate_blocks() -> None:
    alone = ArmPlan(
        id="alone", role="alternative", method=NO_SPECULATION, baseline="baseline", gpu_layers=9
    )

    trials = plan(campaign(prompts=2, blocks=3, arms=(BASELINE, DRAFT, alone)))

    places = [[index for index in range(6) if trials[6 * b + index].arm == "alone"] for b in (0, 1)]
    assert places == [[4, 5], [0, 1]]
    assert {trial.block for trial in trials if trial.arm == "alone"} == {0, 1, 2}


def test_arms_that_are_costly_to_load_run_one_pass_per_block() -> None:
    two = replace(campaign(prompts=3, blocks=2, arms=(BASELINE, DRAFT)), interleaved="block")

    passes = [(block, arm) for (block, arm), _ in groupby(plan(two), lambda t: (t.block, t.arm))]
    assert passes == [
        (0, "baseline"),
        (0, "draft-model-n4"),
        (1, "draft-model-n4"),
        (1, "baseline"),
    ]


def test_all_arms_of_such_a_block_answer_the_prompts_in_the_same_order() -> None:
    two = replace(campaign(prompts=5, blocks=1, arms=(BASELINE, DRAFT)), interleaved="block")

    prompts = [trial.prompt for trial in plan(two)]
    assert prompts[:5] == prompts[5:]


def test_each_arm_goes_first_equally_often_in_every_block() -> None:
    two = campaign(prompts=2, blocks=2, arms=(BASELINE, DRAFT))

    firsts = [trial.arm for trial in plan(two)][::2]

    assert sorted(firsts[:2]) == ["baseline", "draft-model-n4"]
    assert sorted(firsts[2:]) == ["baseline", "draft-model-n4"]
