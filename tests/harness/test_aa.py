"""Does the A/A bench say what its campaigns say? Made-up rigs whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench.aa_campaign import BLOCKS, SUITE, Outcome, outcome
from bench.aa_table import rows
from harness.campaign import suite
from harness.campaign.model import ArmPlan
from harness.runners.fake import FakeRig
from schemas.method import NO_SPECULATION
from tests.harness.campaigns import BASELINE, campaign, run

if TYPE_CHECKING:
    from pathlib import Path

    from schemas.submission import Submission


AGAIN = ArmPlan(id="baseline-again", role="control", method=NO_SPECULATION, baseline="baseline")
TRIALS = 8 * BLOCKS * 2


def measured(tmp_path: Path, rig: FakeRig) -> Submission:
    plan = replace(campaign(arms=(BASELINE, AGAIN), blocks=BLOCKS), suite=suite.load(str(SUITE)))
    return run(plan, tmp_path / "run.jsonl", rig=rig)


def test_a_machine_that_halves_its_speed_midway_fools_only_the_sequential_design(
    tmp_path: Path,
) -> None:
    rig = FakeRig(noise=0.0, slowdown=lambda order: 1.0 if order < TRIALS / 2 else 2.0)

    found = outcome(measured(tmp_path, rig), "quiet", 0)

    assert (found.low, found.ratio, found.high) == pytest.approx((1.0, 1.0, 1.0))
    assert found.processor == pytest.approx(1.0)
    assert found.naive_interleaved == pytest.approx(1.0)
    assert found.naive_sequential == pytest.approx(0.5)


FIRST = Outcome(
    part="quiet",
    seed=0,
    ratio=1.01,
    low=0.99,
    high=1.03,
    processor=1.0,
    processor_low=0.98,
    processor_high=1.02,
    naive_interleaved=0.8,
    naive_sequential=2.0,
    baseline_tps=40.0,
)
MISSED = replace(FIRST, seed=1, ratio=1.04, low=1.02, high=1.06, naive_sequential=0.4)


def test_coverage_counts_the_intervals_that_contain_1() -> None:
    own, processor, _, sequential = rows([FIRST, MISSED])

    assert (own.coverage, processor.coverage, sequential.coverage) == (0.5, 1.0, None)
    assert (own.lowest, own.highest) == (1.01, 1.04)
    # 2.0 is twice the truth and 0.4 two and a half times too low: errors of 100 % and 150 %.
    assert sequential.error_median == pytest.approx(1.25)
    assert sequential.error_worst == pytest.approx(1.5)
    # sqrt(1.03 / 0.99) - 1 and sqrt(1.06 / 1.02) - 1: 2.0 % and 1.94 %.
    assert own.half_width_median == pytest.approx(0.0197, abs=1e-4)
