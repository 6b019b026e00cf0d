"""The list of flags is short: one cause has one flag, and the worst comes first."""

import random
from dataclasses import replace

from estimates.model import Flag
from estimates.summary import summarize
from schemas.submission import Snapshot, Submission
from tests.estimates.campaigns import BASELINE, SPEC, campaign, trial
from tests.estimates.flag_builders import by_position, control
from tests.estimates.flag_examples import EXAMPLES
from tests.estimates.flag_machines import CLEAN
from tests.sample_trials import slowed
from tests.samples import sample


def raised(submission: Submission) -> dict[str, Flag]:
    """The flags by name; the same name with the same remedy twice is an error."""
    flags = summarize(submission).flags
    assert len({(flag.name, flag.remedy) for flag in flags}) == len(flags)
    return {flag.name: flag for flag in flags}


def test_the_serious_ones_come_first_and_notes_last() -> None:
    # In the registry `small-campaign` stands before `never-drafted`, and has `quick` first.
    trials = [trial("baseline"), trial("spec", drafted=0)]

    flags = summarize(campaign(trials, profile="quick")).flags

    assert [(flag.severity, flag.name) for flag in flags] == [
        ("serious", "never-drafted"),
        ("caution", "small-campaign"),
        ("note", "small-campaign"),
    ]


def test_a_restless_machine_is_one_flag_for_all_arms() -> None:
    rng = random.Random(1)  # noqa: S311 - simulated noise
    flag = raised(slowed(CLEAN, lambda _: rng.uniform(1.0, 3.0)))["block-spread"]

    assert flag.arm is None
    assert "24 prompts in 3 arms; most with " in flag.message


def test_a_very_noisy_campaign_gives_a_list_that_fits_on_a_screen() -> None:
    rng = random.Random(2)  # noqa: S311 - simulated noise
    noisy = slowed(
        replace(
            sample(blocks=2),
            profile="quick",
            environment=(Snapshot(moment="before", load_1min=40.0, steal_fraction=0.3),),
        ),
        lambda each: rng.paretovariate(1.0) * (3.0 if each.block == 0 else 1.0),
    )

    flags = raised(noisy)

    assert {"block-spread", "busy-machine", "small-campaign"} <= flags.keys()
    assert len(flags) <= 10


def test_a_single_disturbed_trial_is_named() -> None:
    flags = raised(by_position(lambda order, _block, _prompt: 2.2 if order == 20 else 1.0))

    assert flags.keys() == {"block-spread"}
    assert (flags["block-spread"].arm, flags["block-spread"].prompt) == ("baseline", "code-3")
    assert "on 1 of 8 prompts" in flags["block-spread"].message


def test_a_drift_is_not_also_flagged_as_spread() -> None:
    # 60 % from first to last trial: three blocks are 1.1, 1.3 and 1.5 on average, a CV of 15 %.
    steep = by_position(lambda order, _block, _prompt: 1 + 0.6 * order / 47)

    assert raised(steep).keys() == {"drift"}


def test_an_odd_first_block_is_neither_drift_nor_spread_over_time() -> None:
    assert raised(EXAMPLES["first-block"][0]).keys() & {"drift", "first-block"} == {"first-block"}


def test_a_slow_first_block_on_a_drifting_machine_is_both() -> None:
    both = by_position(
        lambda order, block, _prompt: (1 + 0.3 * order / 47) * (2.0 if block == 0 else 1.0)
    )

    assert raised(both).keys() >= {"drift", "first-block"}


def test_a_round_cost_moved_only_by_noise_is_not_mentioned_again() -> None:
    noisy = by_position(
        lambda order, block, prompt: 2.0 + block if prompt == 3 and order % 2 == 0 else 1.0
    )

    flags = raised(noisy)

    assert "round-cost-spread" not in flags
    assert "block-spread" in flags


def test_a_probe_that_agrees_with_one_block_does_not_disagree() -> None:
    # The curve is probed before the first block, in which the machine was half as fast.
    first_slow = slowed(CLEAN, lambda each: 1.0 if each.block == 0 else 0.5)

    assert "probe-disagrees" not in raised(first_slow)
    assert "first-block" in raised(first_slow)


def test_failed_trials_of_several_arms_are_counted_in_one_flag() -> None:
    trials = [
        replace(trial(arm, block=block), outcome="failed", reason="timed-out", output_tokens=None)
        if block == 1
        else trial(arm, block=block)
        for arm in ("baseline", "spec")
        for block in range(2)
    ]

    flag = raised(campaign(trials))["missing-trials"]

    assert flag.message == (
        "Trials failed: 1 of 2 with baseline and 1 of 2 with spec; mostly: timed out."
    )
    assert flag.arm is None


def test_arms_that_drafted_nothing_are_named_in_one_flag() -> None:
    other = replace(SPEC, id="other")
    trials = [trial("baseline"), trial("spec", drafted=0), trial("other", drafted=0)]

    flag = raised(campaign(trials, arms=(BASELINE, SPEC, other)))["never-drafted"]

    assert flag.message.startswith("spec and other drafted no tokens,")


def test_a_control_off_by_less_than_a_verdict_needs_is_not_serious() -> None:
    # The whole interval 1.05 ± 1.2 % is above 1.02; that of 1.015 is not.
    far, near = (raised(control(ratio))["control-excludes-one"] for ratio in (1.05, 1.015))

    assert (far.severity, near.severity) == ("serious", "caution")
