"""A check against a reference passes repeated runs, and finds a loss on one task."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import pytest

from harness.campaign import suite
from harness.campaign.model import PromptSuite
from harness.compare.reference import FAIL_BELOW, Reference, check, mismatch, reference_of
from schemas.submission import Submission
from schemas.vocabulary import FIXED_TASKS
from tests.estimates.campaigns import campaign as trials_of
from tests.estimates.campaigns import trial
from tests.harness.campaigns import BASELINE, DRAFT, LOOKUP, campaign, context, measure
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.nightly import few

SEEDS = range(2)


def chosen(number: int) -> PromptSuite:
    """One prompt of each of the eight tasks, with the same number in each."""
    core = suite.load("core")
    prompts = [[p for p in core.prompts if p.task == task][number] for task in FIXED_TASKS]
    return replace(core, prompts=tuple(prompts))


def run(prompts: PromptSuite, seed: int, work_file: Path, *, loaded: bool = False) -> Submission:
    """A run on a fake machine whose rounds take up to five times as long under load."""
    made = campaign(arms=(BASELINE, LOOKUP, DRAFT), blocks=2, seed=seed, max_output_tokens=48)
    rig = FakeRig(noise=0.8 if loaded else 0.01)
    return measure(
        replace(made, suite=prompts),
        runner=partial(FakeSession, rig),
        context=context(),
        work_file=work_file,
        resume=False,
    )


def raised(reference: Reference, task: str, factor: float) -> Reference:
    """The reference with a figure of one task changed, as an editor would."""
    document = msgspec.to_builtins(reference)
    for tasks in document["arms"].values():
        for name in ("tokens_per_round", "low", "high"):
            tasks[task][name] *= factor
    return msgspec.convert(document, Reference)


@pytest.mark.parametrize("number", few(range(5), 2))
def test_the_same_build_passes_under_load_and_a_task_that_was_better_fails(
    number: int, tmp_path: Path
) -> None:
    prompts = chosen(number)
    for seed in SEEDS:
        reference = reference_of(run(prompts, seed, tmp_path / "first"))
        now = reference_of(run(prompts, seed, tmp_path / "then", loaded=True))

        assert mismatch(reference, now) is None
        same = check(reference, now, FAIL_BELOW)
        task = FIXED_TASKS[seed % len(FIXED_TASKS)]
        worse = check(raised(reference, task, 1.1), now, FAIL_BELOW)

        assert [each.standing for each in same] == ["no-difference"] * 16
        assert [each.task for each in worse if each.standing == "lower"] == [task, task]


def spec(*counted: tuple[int, int, str], blocks: int = 1) -> Reference:
    """The reference for prompts of one task, with tokens, rounds and text that all blocks share."""
    trials = [
        trial(
            arm, f"code-{at}", block, output_tokens=tokens, rounds=rounds,
            output_sha256=text, drafted=20, accepted=tokens - 1 - rounds,
        )
        for at, (tokens, rounds, text) in enumerate(counted)
        for block in range(blocks)
        for arm in ("baseline", "spec")
    ]  # fmt: skip
    return reference_of(trials_of(trials, prompts=tuple(f"code-{n}" for n in range(len(counted)))))


def test_tokens_per_round_are_one_over_the_mean_of_rounds_per_token() -> None:
    # Ten tokens in five rounds and in ten: one over the mean of 0.5 and 1.
    found = spec((11, 5, "a"), (11, 10, "b")).arms["spec"]["code"]

    assert found.tokens_per_round == pytest.approx(4 / 3)
    assert (found.low, found.high) == (found.tokens_per_round, found.tokens_per_round)


def test_a_prompt_with_another_text_is_left_out_and_a_task_of_them_is_not_compared() -> None:
    was = spec((11, 5, "a"), (11, 4, "b"))

    (half,) = check(was, spec((11, 5, "a"), (11, 9, "other")), FAIL_BELOW)
    (nothing,) = check(was, spec((11, 5, "c"), (11, 9, "d")), FAIL_BELOW)

    assert (half.standing, half.left_out, half.measured) == ("no-difference", 1, 2.0)
    assert (nothing.standing, nothing.left_out) == ("not-compared", 2)


def test_the_prompt_that_lost_most_is_named() -> None:
    was = spec((11, 5, "a"), (11, 4, "b"))

    (found,) = check(was, spec((11, 6, "a"), (11, 7, "b")), FAIL_BELOW)

    assert (found.standing, found.prompt) == ("lower", "code-1")


def test_a_reference_with_other_prompts_is_refused() -> None:
    assert mismatch(spec((11, 5, "a")), spec((11, 5, "a"), (11, 5, "b"))) == (
        "the reference and the run must both contain spec code code-1"
    )
