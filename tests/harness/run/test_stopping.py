"""A campaign stops when it is precise enough or its time is over."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaign.model import Stopping
from harness.run.stopping import decide
from tests.harness.campaigns import campaign, run
from tests.harness.fake_runner import FakeRig

RULE = Stopping(least_blocks=3, precision=0.03, budget_s=100.0)


@pytest.mark.parametrize(
    ("blocks", "half_width", "spent_s", "expected"),
    [
        (0, None, 500.0, None),  # the first block is always run
        (2, 0.01, 20.0, None),  # two blocks may agree by chance
        (3, 0.03, 20.0, "precise-enough"),
        (3, 0.031, 75.0, None),  # the fourth would end at 100 s
        (3, 0.031, 75.3, "budget-spent"),  # the fourth would end at 100.4 s
        (1, None, 51.0, "budget-spent"),
    ],
)
def test_precision_is_asked_for_first_and_no_block_begins_that_would_end_too_late(
    blocks: int, half_width: float | None, spent_s: float, expected: str | None
) -> None:
    assert decide(RULE, blocks=blocks, half_width=half_width, spent_s=spent_s) == expected


def test_a_fixed_number_of_blocks_is_run_however_well_they_agree() -> None:
    assert decide(Stopping(), blocks=3, half_width=0.0, spent_s=1e6) is None


@pytest.mark.parametrize(
    ("noise", "blocks", "ended"), [(0.001, 3, "precise-enough"), (0.5, 6, "completed")]
)
def test_a_quiet_machine_ends_after_three_blocks_and_a_noisy_one_continues(
    tmp_path: Path, noise: float, blocks: int, ended: str
) -> None:
    plan = replace(campaign(blocks=6), stopping=Stopping(precision=0.03))

    submission = run(plan, tmp_path / "run.jsonl", rig=FakeRig(noise=noise))

    assert 1 + max(trial.block for trial in submission.trials) == blocks
    assert (submission.design.ended, submission.design.precision) == (ended, 0.03)
    assert (submission.design.blocks, submission.design.planned_trials) == (6, 36)
