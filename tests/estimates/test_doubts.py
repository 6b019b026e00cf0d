"""A figure with an interval may lack a verdict because of a doubt."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from estimates.model import Estimate
from estimates.pairing import pair
from estimates.reasons import reason
from estimates.summary import summarize
from estimates.verdicts import failed_share, few_decide
from schemas.method import Method
from schemas.submission import Submission
from tests.estimates.campaigns import BASELINE, LOOKUP, SPEC, campaign, failed, table, trial
from tests.samples import TASKS

FIVE = tuple(f"code-{number}" for number in range(1, 6))
TEN = tuple(f"code-{number}" for number in range(10))


def of(submission: Submission, task: str | None = "code") -> Estimate:
    return next(each for each in summarize(submission).estimates if each.task == task)


def on(prompts: Sequence[str], fired: Sequence[int] = (), speedup: float = 2.0) -> Submission:
    """Two blocks with 1 % noise; `fired` of twenty rounds drafted four tokens."""
    rng = random.Random(5)  # noqa: S311 - simulated noise
    trials = [
        trial(arm, prompt, block, decode_ms=ms * rng.gauss(1, 0.01), output_tokens=25, **counters)
        for block in (0, 1)
        for place, prompt in enumerate(prompts)
        for arm, ms, counters in (
            ("baseline", 2400.0, {}),
            ("spec", 2400.0 / speedup, counted(fired[place]) if fired else {}),
        )
    ]
    return campaign(trials, prompts=tuple(prompts), arms=(BASELINE, replace(SPEC, method=LOOKUP)))


def counted(fired: int) -> Mapping[str, object]:
    """24 tokens after the first in twenty rounds."""
    return {"rounds": 20, "drafted_histogram": (20 - fired, 0, 0, 0, fired)}


def test_a_task_on_which_most_prompts_fire_has_a_sign() -> None:
    found = of(on(FIVE, fired=(1, 1, 5, 9, 2), speedup=1.15))

    assert (found.verdict, found.doubt) == ("helps", None)


def test_a_lossy_arm_has_a_speed_but_no_verdict_and_no_claim_of_equal_outputs() -> None:
    lossless = on(FIVE)
    lossless = replace(
        lossless, trials=tuple(replace(each, compared_tokens=25) for each in lossless.trials)
    )
    lossy = replace(SPEC, method=Method(type="lossy", n_max=4))
    other = replace(lossless, arms=(BASELINE, lossy))
    twice = of(lossless), of(other)

    assert [each.verdict for each in twice] == ["helps", "uncertain"]
    assert [each.exactness and each.exactness.identical for each in twice] == [5, 0]
    assert twice[0].speedup == twice[1].speedup
    assert twice[1].doubt == "lossy-verification"
    assert "not have written" in reason(twice[1], other)


@pytest.mark.parametrize(("firing", "doubt"), [(3, "few-prompts-fire"), (4, None)])
def test_half_of_eight_prompts_must_fire(firing: int, doubt: str | None) -> None:
    assert of(on(TEN[:8], fired=(5,) * firing + (1,) * 5, speedup=1.15)).doubt == doubt


def test_a_task_on_which_few_prompts_fire_has_none() -> None:
    submission = on(FIVE, fired=(1, 1, 1, 9, 2), speedup=1.15)
    found = of(submission)

    assert (found.verdict, found.doubt) == ("uncertain", "few-prompts-fire")
    assert reason(found, submission) == (
        "No verdict. It rarely drafted on most of these prompts, so other prompts may differ."
    )


def test_without_counted_drafts_a_look_up_is_taken_to_fire_on_prompts_that_gain() -> None:
    # A look-up that does not draft costs time: five prompts at 0.8 say nothing about others on
    # which it drafts. A draft model always drafts.
    submission = on(FIVE, speedup=0.8)
    found = of(submission)

    assert (found.verdict, found.doubt) == ("uncertain", "few-prompts-fire")
    assert of(replace(submission, arms=(BASELINE, SPEC))).verdict == "hurts"
    assert of(on(FIVE, speedup=1.2)).verdict == "helps"


def test_over_all_tasks_few_prompts_that_fire_do_not_hide_the_sign() -> None:
    prompts = [f"{task}-{number}" for task in TASKS for number in (1, 2)]

    found = of(on(prompts, fired=(9, *(1,) * 15), speedup=1.15), task=None)
    assert found.verdict == "helps"


@pytest.mark.parametrize(
    ("arm_ms", "expected"),
    [
        # Saved of 100 ms a token: 20, 10, 10 and 41 of 81; then 40 of 80; then a loss of 50 of 90.
        ((80.0, 90.0, 90.0, 59.0), "one-prompt-decides"),
        ((80.0, 90.0, 90.0, 60.0), None),
        ((110.0, 120.0, 110.0, 150.0), "one-prompt-decides"),
        # Of eight prompts seven save 28 together.
        ((96.0,) * 7 + (71.0,), "one-prompt-decides"),
        ((96.0,) * 7 + (72.0,), None),
    ],
)
def test_a_prompt_that_makes_more_than_half_of_the_difference_decides(
    arm_ms: tuple[float, ...], expected: str | None
) -> None:
    prompts = TEN[: len(arm_ms)]
    rows = {prompt: (1000.0, 10 * ms) for prompt, ms in zip(prompts, arm_ms, strict=True)}

    assert few_decide(pair(campaign(table(rows), prompts=prompts), SPEC)) == expected


def test_two_prompts_are_too_few() -> None:
    found = of(on(FIVE[:2]))

    assert (found.verdict, found.doubt) == ("uncertain", "few-prompts")


def giving_up(
    prompts: Sequence[str], blocks: Sequence[int] = (0, 1), *, arm: str = "spec", **fields: str
) -> Submission:
    """Ten prompts in two blocks; an arm times out on some after 4 s, with a limit of 40 tokens."""
    made = on(TEN)
    gone = replace(failed(arm), wall_ms=4000.0, **fields)  # type: ignore[arg-type]
    trials = tuple(
        replace(gone, prompt=each.prompt, block=each.block, order=each.order)
        if each.arm == arm and each.prompt in prompts and each.block in blocks
        else each
        for each in made.trials
    )
    settings = replace(made.settings, max_output_tokens=41)
    return replace(made, trials=trials, settings=settings)


@pytest.mark.parametrize("cause", ["timed-out", "crashed"])
def test_an_arm_that_fails_on_a_tenth_of_the_prompts_has_no_verdict(cause: str) -> None:
    submission = giving_up(["code-3"], reason=cause)
    found = of(submission)

    assert (found.verdict, found.doubt) == ("uncertain", "failures")
    assert "the remaining prompts are not representative" in reason(found, submission)
    assert of(giving_up([])).verdict == "helps"


@pytest.mark.parametrize(("speedup", "verdict"), [(2.0, "uncertain"), (0.5, "hurts")])
def test_an_arm_that_fails_on_fewer_prompts_may_hurt_and_does_not_help(
    speedup: float, verdict: str
) -> None:
    # One of sixteen prompts: below a tenth, but nobody knows what it would have taken.
    prompts = tuple(f"code-{number}" for number in range(16))
    made = on(prompts, speedup=speedup)
    trials = (
        replace(failed("spec"), prompt=each.prompt, block=each.block, order=each.order)
        if each.arm == "spec" and each.prompt == "code-3"
        else each
        for each in made.trials
    )

    found = of(replace(made, trials=tuple(trials), arms=(BASELINE, SPEC)))

    assert found.verdict == verdict
    assert found.doubt == ("failures" if verdict == "uncertain" else None)


@pytest.mark.parametrize(
    ("blocks", "share"), [((0,), 0.1), ((0, 1), 0.1), ((), 0.0)], ids=["half", "all", "none"]
)
def test_a_prompt_counts_as_failed_from_half_of_its_blocks_on(
    blocks: tuple[int, ...], share: float
) -> None:
    trials = giving_up(["code-3"], blocks).trials
    own, base = ([each for each in trials if each.arm == arm] for arm in ("spec", "baseline"))

    assert failed_share(own, base) == pytest.approx(share)


def test_a_prompt_that_times_out_in_the_baseline_is_not_a_failure_of_the_arm() -> None:
    found = of(giving_up(["code-3"], arm="baseline"))

    assert (found.verdict, found.doubt) == ("helps", None)
    assert (found.prompts, found.at_most) == (9, False)


def test_a_trial_that_ran_out_of_time_makes_the_figure_a_bound() -> None:
    # 100 ms a token by the limit and 50 in the other block: 75 on one prompt, 50 on nine, so 52.5
    # on average where plain decoding takes 100.
    found = of(giving_up(["code-3"], blocks=(0,)))

    assert found.at_most
    assert found.failed_trials == 1
    assert found.speedup == pytest.approx(100 / 52.5, rel=0.01)


def test_one_failure_of_three_blocks_leaves_the_median_known() -> None:
    made = giving_up(["code-3"], blocks=(0,))
    again = (
        replace(each, block=2, order=each.order + 100) for each in made.trials if each.block == 1
    )

    found = of(replace(made, trials=(*made.trials, *again)))

    assert (found.at_most, found.failed_trials) == (False, 1)
    assert found.speedup == pytest.approx(2.0, rel=0.01)


def test_faster_to_write_but_slower_in_all_is_a_separate_verdict() -> None:
    # A token takes 50 ms and not 100, but reading takes 30 s and not 0.5: requests of 25 tokens
    # take 2.9 s and 31.2 s, and those of 1 + 29,500 / 50 = 591 tokens are equal.
    plain = on(FIVE)
    trials = tuple(
        replace(each, ttft_ms=500.0 if each.arm == "baseline" else 30_000.0)
        for each in plain.trials
    )
    arms = (BASELINE, SPEC)  # its draft reads, and nobody says for how long
    found = of(replace(plain, trials=trials, arms=arms))

    assert found.verdict == "slower-in-all"
    assert found.whole_request == pytest.approx(2.9 / 31.2, rel=0.01)
    assert found.pays_from is not None
    assert found.pays_from.tokens == pytest.approx(591, rel=0.02)


def test_prompts_that_an_arm_did_not_get_to_do_not_count_for_it() -> None:
    # It failed on one of the two prompts that it ran, and was then given up; eight are left.
    trials = giving_up(["code-1"], (0, 1)).trials
    base = [each for each in trials if each.arm == "baseline"]
    own = [each for each in trials if each.arm == "spec" and each.prompt in ("code-1", "code-2")]

    assert failed_share(own, base) == pytest.approx(0.5)
