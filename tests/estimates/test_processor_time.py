"""Processor time gives a second speedup, only if the processor did the work."""

from dataclasses import replace

import pytest

from estimates.model import Estimate
from estimates.summary import summarize
from schemas.submission import Submission
from tests.samples import sample

ON_CPU = sample(gpu=None, backend="cpu", prompts_per_task=2, blocks=3)


def with_processor_time(submission: Submission, *, share: dict[str, float]) -> Submission:
    """Every round's processor time is this share of its wall time, by arm."""
    trials = tuple(
        replace(
            trial,
            round_cpu_ms_median=tuple(
                share.get(trial.arm, 1.0) * ms for ms in trial.round_ms_median or ()
            ),
        )
        for trial in submission.trials
    )
    return replace(submission, trials=trials)


def overall(submission: Submission) -> Estimate:
    return next(each for each in summarize(submission).estimates if each.task is None)


def test_an_arm_that_waits_half_its_time_is_twice_as_fast_by_processor_time() -> None:
    arm = overall(ON_CPU).arm

    found = overall(with_processor_time(ON_CPU, share={arm: 0.5}))

    assert found.speedup is not None
    assert found.cpu_speedup == pytest.approx(2 * found.speedup, rel=1e-9)


def test_without_waiting_both_clocks_agree() -> None:
    found = overall(with_processor_time(ON_CPU, share={}))

    assert found.cpu_speedup == pytest.approx(found.speedup, rel=1e-9)


def test_processor_time_is_ignored_on_a_gpu() -> None:
    on_gpu = sample(gpu="NVIDIA GeForce RTX 4060", backend="cuda")

    assert overall(with_processor_time(on_gpu, share={})).cpu_speedup is None


def test_one_trial_without_processor_time_leaves_it_unknown() -> None:
    full = with_processor_time(ON_CPU, share={})
    first, *rest = full.trials
    gap = replace(full, trials=(replace(first, round_cpu_ms_median=None), *rest))

    assert overall(gap).cpu_speedup is None
