"""A result with prompts or arms removed no longer has the order of its seed."""

from dataclasses import replace
from pathlib import Path

import pytest

from estimates.running_order import plan_digest, running_order
from estimates.summary import summarize
from schemas import contract
from schemas.submission import Submission
from tests.estimates.campaigns import renumbered, without_prompts
from tests.samples import sample, sample_bytes

COMMUNITY = Path(__file__).parents[2] / "results" / "community"
WHOLE = sample(prompts_per_task=4, blocks=3)


def flags(submission: Submission) -> set[str]:
    return {flag.name for flag in summarize(submission).flags}


def replanned(submission: Submission) -> Submission:
    """The submission with a plan that matches its number of trials."""
    design = replace(submission.design, planned_trials=len(submission.trials))
    return replace(submission, design=design)


def test_each_block_uses_both_orders_equally_often_in_a_drawn_order() -> None:
    prompts = [str(number) for number in range(32)]
    order = list(running_order("ab", prompts, blocks=3, seed=1, interleaved="prompt"))

    first = [arm for _, _, arm in order[::2]]
    assert [first[block : block + 32].count("a") for block in (0, 32, 64)] == [16, 16, 16]
    assert first[:32] != first[32:64]
    assert "".join(first[:32]) not in {"ab" * 16, "ba" * 16}


def test_a_longer_campaign_begins_like_a_shorter_one() -> None:
    short, long = (
        list(running_order("abc", "pqrs", blocks=blocks, seed=1, interleaved="prompt"))
        for blocks in (2, 4)
    )

    assert long[: len(short)] == short


def test_passes_use_every_row_before_one_comes_again() -> None:
    order = running_order("abc", "pq", blocks=6, seed=1, interleaved="block")

    passes: dict[int, list[str]] = {block: [] for block in range(6)}
    for block, _, arm in order:
        passes[block].append(arm)
    assert len({tuple(arms) for arms in passes.values()}) == 6


def test_older_files_rotated_the_rows() -> None:
    order = list(
        running_order("ab", ["p", "q"], blocks=2, seed=0, interleaved="prompt", rotated=True)
    )

    # Seed 0 leaves two prompts in their order, in both blocks.
    assert [(block, prompt + arm) for block, prompt, arm in order] == [
        *((0, "pa"), (0, "pb"), (0, "qb"), (0, "qa")),
        *((1, "pb"), (1, "pa"), (1, "qa"), (1, "qb")),
    ]


@pytest.mark.parametrize("count", [1, 8, 16])
def test_prompts_that_were_taken_out_are_seen(count: int) -> None:
    left = replanned(without_prompts(WHOLE, count))

    assert contract.findings(sample_bytes(left)) == ()
    assert "plan-changed" in flags(left)


def test_an_arm_that_was_taken_out_is_seen() -> None:
    kept = [each for each in WHOLE.trials if each.arm != "prompt-lookup-n4"]
    left = replanned(
        replace(
            WHOLE,
            trials=renumbered(kept),
            arms=tuple(arm for arm in WHOLE.arms if arm.id != "prompt-lookup-n4"),
            warmups=tuple(each for each in WHOLE.warmups or () if each.arm != "prompt-lookup-n4"),
        )
    )

    assert contract.findings(sample_bytes(left)) == ()
    assert "plan-changed" in flags(left)


@pytest.mark.parametrize("resumed", [0, 1])
def test_a_plan_that_was_cut_down_afterwards_is_not_the_one_of_its_digest(resumed: int) -> None:
    whole = replace(WHOLE, design=replace(WHOLE.design, resumed=resumed))
    arms, prompts = [arm.id for arm in whole.arms], [each.id for each in whole.suite.prompts]
    digest = plan_digest(arms, prompts, whole.design)
    honest = replace(whole, design=replace(whole.design, plan_sha256=digest))

    cut = replanned(without_prompts(honest, 8))

    assert "plan-changed" not in flags(honest)
    # After an interruption the order is no longer known; the digest is.
    assert "plan-changed" in flags(cut)


def test_trials_taken_out_of_a_resumed_campaign_are_counted() -> None:
    resumed = replace(WHOLE, design=replace(WHOLE.design, resumed=1))
    left = replace(resumed, trials=renumbered(WHOLE.trials[:10] + WHOLE.trials[11:]))

    assert "plan-changed" in flags(left)


@pytest.mark.parametrize(("ended", "seen"), [("interrupted", False), ("completed", True)])
def test_a_campaign_may_stop_early_and_says_so(ended: str, *, seen: bool) -> None:
    design = replace(WHOLE.design, ended=ended)  # type: ignore[arg-type]
    stopped = replace(WHOLE, trials=WHOLE.trials[:100], design=design)

    assert ("plan-changed" in flags(stopped)) == seen


def test_single_trials_that_were_taken_out_are_seen() -> None:
    slowest = max(WHOLE.trials, key=lambda each: each.decode_ms or 0.0)
    left = replace(WHOLE, trials=renumbered(each for each in WHOLE.trials if each != slowest))

    assert "plan-changed" in flags(replanned(left))


@pytest.mark.parametrize("digest", ["49ff8e44", "82e61afa", "8642ac2b", "e1983be8", "f810c741"])
def test_files_of_the_harness_have_the_planned_order(digest: str) -> None:
    (path,) = COMMUNITY.glob(f"*-{digest}.json")
    read = contract.read(path.read_bytes())

    assert isinstance(read, Submission)
    assert "plan-changed" not in flags(read)
