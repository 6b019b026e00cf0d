"""Other placements and the oracle are what they claim to be, on the real engine."""

import dataclasses

import pytest

from harness.campaign.model import ArmPlan, Campaign
from harness.models.resolve import resolve
from harness.runners.base import PreparedArm
from harness.runners.inprocess import open_in_process
from schemas.method import NO_SPECULATION
from schemas.submission import Placement
from tests.harness.campaigns import BASELINE, DRAFT, campaign
from tests.harness.runners.test_llama import OUTPUT_TOKENS, TEXTS, generate

pytestmark = pytest.mark.engine

ALONE = ArmPlan(
    id="baseline-gpu-layers-7",
    role="alternative",
    method=NO_SPECULATION,
    baseline="baseline",
    gpu_layers=7,
)


@pytest.fixture(scope="module")
def plan() -> Campaign:
    weights = resolve("smollm2-135m:q4_1", say=lambda _text: None).path
    return campaign(
        arms=(BASELINE, DRAFT),
        texts=TEXTS[:2],
        max_output_tokens=OUTPUT_TOKENS,
        target=weights,
        draft=weights,
        context_tokens=512,
    )


@pytest.mark.nightly
def test_an_arm_with_its_own_placement_runs_alone_and_the_drafts_come_back(
    plan: Campaign,
) -> None:
    settings = dataclasses.replace(plan.settings, gpu_layers=0)
    arms = (BASELINE, DRAFT, ALONE)
    opened = open_in_process(dataclasses.replace(plan, arms=arms, settings=settings))

    prepared = {arm.id: opened.prepare(arm.id) for arm in arms}
    alone = generate(opened, ALONE.id)
    drafted = generate(opened, DRAFT.id)
    again = generate(opened, ALONE.id)
    opened.close()

    placed = prepared[ALONE.id]
    assert isinstance(placed, PreparedArm)
    assert placed.placement == Placement(
        target_gpu_layers_requested=7, target_gpu_layers_resident=0
    )
    assert alone.tokens == drafted.tokens == again.tokens
    assert sum(item.drafted for item in drafted.rounds) > 0
    assert again.prompt_ms is None  # the state outlives the placement's turns
