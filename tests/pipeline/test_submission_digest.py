"""The short form of a submission has its summary's figures and the words of the map."""

from dataclasses import replace

from estimates.summary import summarize
from pipeline.intake.submission_digest import understand
from tests.samples import sample


def test_the_figures_are_those_of_the_summary() -> None:
    submission = sample(prompts_per_task=2, blocks=1)

    said = understand(submission)

    whole = {e.arm: e for e in summarize(submission).estimates if e.task is None}
    assert [arm.arm for arm in said.arms] == ["prompt-lookup-n4", "draft-model-n4"]
    assert [arm.speedup for arm in said.arms] == [
        whole["prompt-lookup-n4"].speedup,
        whole["draft-model-n4"].speedup,
    ]
    assert said.trials == len(submission.trials)


def test_a_device_is_the_card_or_the_processor() -> None:
    on_cpu = sample(backend="cpu", prompts_per_task=1, blocks=1)

    assert understand(sample(prompts_per_task=1, blocks=1)).device == "RTX 4060 8 GB"
    assert understand(on_cpu).device == "Ryzen 7 7845HS 16 threads"


def test_an_arm_that_failed_says_why() -> None:
    submission = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    *others, last = submission.arms
    failed = replace(last, outcome="failed", reason="out-of-memory")
    kept = tuple(trial for trial in submission.trials if trial.arm != last.id)

    said = understand(replace(submission, arms=(*others, failed), trials=kept))

    assert said.arms[-1].failure == "out-of-memory"
