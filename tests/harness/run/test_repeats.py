"""All arms repeat a prompt whose two times disagree, and no other prompt."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from estimates.pairing import pair
from estimates.repeatability import blocks_run, headline, single_pass
from estimates.running_order import disagreeing
from estimates.summary import summarize
from harness.campaign.model import Stopping
from harness.campaign.trial_order import plan
from harness.report.details import ended
from harness.report.events import Event, TrialEnded, TrialsPlanned
from harness.run.stopping import fits_budget
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from schemas.submission import Submission
from tests.harness.campaigns import campaign, run
from tests.harness.fake_runner import FakeRig

REPEATING = replace(campaign(prompts=4), stopping=Stopping(repeat_beyond=0.15))
PLANNED = 4 * 3 * 2
STEADY = FakeRig(noise=0.0)


def slow(*orders: int, factor: float = 3.0) -> FakeRig:
    """A rig on which the trials with these numbers take longer."""
    return FakeRig(noise=0.0, slowdown=lambda order: factor if order in orders else 1.0)


def repeated_prompts(submission: Submission) -> set[str]:
    return {trial.prompt for trial in submission.trials if trial.block == 2}


def stopped_after(count: int) -> Callable[[Event], None]:
    def observe(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.trial.order == count - 1:
            raise KeyboardInterrupt

    return observe


def test_two_times_may_differ_by_the_share_and_no_more(tmp_path: Path) -> None:
    within = run(REPEATING, tmp_path / "a", rig=slow(5, factor=1.149))
    beyond = run(REPEATING, tmp_path / "b", rig=slow(5, factor=1.151))

    assert (len(within.trials), repeated_prompts(within)) == (PLANNED, set())
    assert (len(beyond.trials), repeated_prompts(beyond)) == (
        PLANNED + 3,
        {beyond.trials[5].prompt},
    )


def test_the_median_of_three_leaves_a_disturbed_trial_out(tmp_path: Path) -> None:
    quiet = summarize(run(REPEATING, tmp_path / "a", rig=STEADY))
    found = run(REPEATING, tmp_path / "b", rig=slow(5, 13))

    assert len(repeated_prompts(found)) == 2
    assert findings(canonical_bytes(encode(found))) == ()
    for one, other in zip(summarize(found).estimates, quiet.estimates, strict=True):
        assert one.speedup == pytest.approx(other.speedup)
    # All arms have equally many times on such a prompt, so they are paired.
    for arm in found.arms[1:]:
        counts = {each.prompt.id: len(each.trials) for each in pair(found, arm)}
        assert counts == {
            each.id: 2 + (each.id in repeated_prompts(found)) for each in found.suite.prompts
        }


def test_repeats_are_announced_and_do_not_count_as_a_block(tmp_path: Path) -> None:
    seen: list[Event] = []
    found = run(REPEATING, tmp_path / "run", rig=slow(5, 13), observe=seen.append)

    assert [e.total for e in seen if isinstance(e, TrialsPlanned)] == [PLANNED, PLANNED + 6]
    assert (blocks_run(found), found.design.planned_trials) == (2, PLANNED + 6)
    assert ended(found) == "after all 2 blocks, as planned; 2 prompts measured again"
    assert not single_pass(found)
    assert [each.half_width for each in headline(found)] == [None, None]


def test_repeats_of_every_prompt_form_a_third_block(tmp_path: Path) -> None:
    slowing = FakeRig(noise=0.0, slowdown=lambda order: 1.05**order)
    found = run(REPEATING, tmp_path / "run", rig=slowing)

    assert len(found.trials) == PLANNED * 3 // 2
    assert [each.blocks for each in headline(found)] == [3, 3]
    assert all(each.half_width is not None for each in headline(found))


def test_the_order_of_repeats_is_drawn_separately_and_any_other_is_flagged(tmp_path: Path) -> None:
    found = run(REPEATING, tmp_path / "run", rig=slow(1, 5, 9, 13))
    last = [(trial.prompt, trial.arm) for trial in found.trials[PLANNED:]]
    prompts = disagreeing(found.trials, 2, 0.15)

    expected = plan(REPEATING, prompts)[PLANNED:]
    swapped = replace(
        found,
        trials=tuple(
            replace(trial, order={PLANNED: PLANNED + 1, PLANNED + 1: PLANNED}.get(order, order))
            for order, trial in enumerate(found.trials)
        ),
    )
    left_out = replace(found, trials=found.trials[:PLANNED])

    assert [(each.prompt, each.arm) for each in expected] == last
    assert _plan_flags(found) == []
    assert _plan_flags(swapped) == _plan_flags(left_out) == ["The order"]
    resumed = replace(left_out, design=replace(found.design, resumed=1))
    assert _plan_flags(resumed) == ["The plan was changed: planned trials"]


def _plan_flags(submission: Submission) -> list[str]:
    flags = [each for each in summarize(submission).flags if each.name == "plan-changed"]
    return [each.message.partition(" of ")[0] for each in flags]


@pytest.mark.parametrize("count", [PLANNED - 1, PLANNED, PLANNED + 1, PLANNED + 5])
def test_a_campaign_that_is_interrupted_in_its_repeats_and_resumed_ends_the_same(
    tmp_path: Path, count: int
) -> None:
    rig, work_file = slow(5, 13), tmp_path / "cut"
    whole = run(REPEATING, tmp_path / "whole", rig=rig)
    cut = run(REPEATING, work_file, rig=rig, observe=stopped_after(count))

    resumed = run(REPEATING, work_file, rig=STEADY, resume=True)

    assert (cut.design.ended, len(cut.trials)) == ("interrupted", count)
    assert (resumed.design.ended, resumed.trials) == ("completed", whole.trials)
    assert replace(resumed.design, resumed=0) == whole.design
    opened_again = run(REPEATING, work_file, rig=STEADY, resume=True)
    assert opened_again.trials == whole.trials


def test_a_budget_may_leave_the_repeats_out_and_counts_them_by_their_number() -> None:
    rule = Stopping(repeat_beyond=0.15, budget_s=100.0)

    # Two blocks took 90 s: a tenth of one more takes 4.5, a quarter 11.25.
    assert fits_budget(rule, blocks=2, spent_s=90.0, share=0.1)
    assert not fits_budget(rule, blocks=2, spent_s=90.0, share=0.25)


def test_a_trial_that_failed_has_no_time_to_disagree_with(tmp_path: Path) -> None:
    found = run(REPEATING, tmp_path / "run", rig=FakeRig(noise=0.0, failing_trials={5: "crashed"}))

    assert repeated_prompts(found) == set()


def test_a_block_beyond_the_planned_ones_needs_the_rule(tmp_path: Path) -> None:
    found = run(REPEATING, tmp_path / "run", rig=slow(5))
    without = replace(found, design=replace(found.design, repeat_beyond=None))

    assert [each.rule for each in findings(canonical_bytes(encode(without)))] == [
        "trial-block-planned"
    ] * 3
