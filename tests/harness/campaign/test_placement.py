"""The target alone can also be measured at another placement, as a separate arm."""

from pathlib import Path

import pytest

from estimates.summary import summarize
from harness.campaign.builder import build, profile
from harness.campaign.model import ArmPlan, PromptSuite
from harness.campaign.options import Options
from harness.report import words
from schemas import contract
from schemas.codec import canonical_bytes, encode
from schemas.method import NO_SPECULATION, Method
from tests.harness.campaigns import BASELINE, DRAFT, campaign, run
from tests.harness.fake_runner import FakeRig

ALONE = ArmPlan(
    id="baseline-gpu-layers-9",
    role="alternative",
    method=NO_SPECULATION,
    baseline="baseline",
    gpu_layers=9,
)


def suite() -> PromptSuite:
    return campaign(prompts=1).suite


def built(options: Options) -> tuple[ArmPlan, ...]:
    small = campaign()
    methods = (Method(type="draft-model", n_max=4),)
    return build(
        options, target=small.target, drafts=small.drafts, methods=methods, suite=suite()
    ).arms


def test_the_option_adds_an_arm_without_speculation_after_all_others() -> None:
    assert [arm.id for arm in built(Options())] == ["baseline", "draft-model-n4"]
    assert built(Options(baseline_gpu_layers=9))[2:] == (ALONE,)
    assert built(Options(baseline_gpu_layers=-1))[2].id == "baseline-gpu-layers-all"
    assert profile(Options(baseline_gpu_layers=9)) == "custom"


def test_a_target_twice_as_fast_alone_halves_the_gain_of_speculation(
    tmp_path: Path,
) -> None:
    plan = campaign(arms=(BASELINE, DRAFT, ALONE), prompts=4, blocks=3)

    submission = run(plan, tmp_path / "work.jsonl", rig=FakeRig(layers_slowdown={9: 0.5}))
    found = {(each.arm, each.task): each for each in summarize(submission).estimates}

    spec, alone = found["draft-model-n4", "code"], found[ALONE.id, "code"]
    assert contract.findings(canonical_bytes(encode(submission))) == ()
    assert alone.speedup == pytest.approx(2.0, rel=0.02)
    assert spec.speedup is not None
    assert spec.over_alternative == pytest.approx(spec.speedup / 2, rel=0.02)
    assert "the speed of baseline-gpu-layers-9" in words.over_alternative(spec)
    assert words.over_alternative(alone) == ""
