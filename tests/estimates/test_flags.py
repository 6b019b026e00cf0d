"""Each flag is raised by its own cause only."""

from dataclasses import replace

import pytest

from estimates.flags import FLAGS
from estimates.summary import summarize
from pipeline.collection.plausibility import CORPUS_FLAGS
from schemas.submission import Snapshot
from schemas.vocabulary.flags import FLAGS as WORDS
from tests.estimates.campaigns import BASELINE, SPEC, campaign, failed, trial
from tests.estimates.flag_builders import PROMPTS, by_position, costly
from tests.estimates.flag_examples import EXAMPLES
from tests.estimates.flag_machines import CLEAN, memory


def test_the_vocabulary_has_the_flags_of_one_file_and_then_those_of_the_collection() -> None:
    assert [*WORDS] == [*FLAGS, *CORPUS_FLAGS]


@pytest.mark.parametrize("name", WORDS)
def test_a_flag_is_explained_in_a_sentence_with_its_bounds(name: str) -> None:
    assert WORDS[name].explanation().endswith(".")
    assert "{" not in WORDS[name].explanation()


def test_a_bound_is_printed_at_its_place_in_the_words() -> None:
    assert WORDS["block-spread"].explanation() == (
        "The same trial takes different times in different blocks: their coefficient of variation "
        "is above 10 %."
    )


def test_every_flag_has_an_example_and_a_near_miss() -> None:
    assert {name.partition(":")[0] for name in EXAMPLES} == FLAGS.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_flag_is_raised_once_by_its_example_and_not_by_its_near_miss(name: str) -> None:
    flag, _, case = name.partition(":")
    raised, quiet = (
        [each for each in summarize(one).flags if each.name == flag] for one in EXAMPLES[name]
    )

    assert [each.message[-1] for each in raised] == ["."]
    assert raised[0].remedy == ((case and WORDS[flag].cases[case].remedy) or raised[0].remedy)
    assert raised[0].remedy.endswith(".")
    assert quiet == []


def test_a_clean_campaign_raises_no_flag() -> None:
    # The sample's lookup arm never drafts on most prompts, but it drafts on some.
    assert summarize(CLEAN).flags == ()


def test_flags_name_the_arm_and_the_prompt() -> None:
    (flag,) = [
        each
        for each in summarize(EXAMPLES["round-cost-spread"][0]).flags
        if each.name == "round-cost-spread"
    ]

    assert (flag.arm, flag.prompt) == ("spec", "code-4")


def test_drift_is_reported_with_its_direction_and_size() -> None:
    (flag,) = [each for each in summarize(EXAMPLES["drift"][0]).flags if each.name == "drift"]

    assert flag.message.startswith("The machine became slower: ")


# One prompt of eight that costs 27 % more is a spread of 9 %; every second one at 24 % more is a
# spread of 11 %, and none is farther than 12 % from the median.
@pytest.mark.parametrize(
    ("prompts", "factor", "flagged"),
    [
        (PROMPTS[3:4], 1.27, True),
        (PROMPTS[3:4], 1.23, False),
        (PROMPTS[::2], 1.24, True),
        (PROMPTS[::2], 1.19, False),
    ],
)
def test_the_cost_of_a_round_may_spread_by_a_tenth_and_be_a_quarter_off_on_one_prompt(
    prompts: tuple[str, ...], factor: float, *, flagged: bool
) -> None:
    flags = summarize(costly(factor, prompts)).flags

    assert ("round-cost-spread" in {flag.name for flag in flags}) == flagged


def test_without_repetitions_drift_is_seen_in_the_plain_arm() -> None:
    drifting = by_position(lambda order, _block, _prompt: 1 + 0.3 * order / 15, blocks=1)
    steady = by_position(lambda _order, _block, _prompt: 1.0, blocks=1)

    assert "drift" in {flag.name for flag in summarize(drifting).flags}
    assert "drift" not in {flag.name for flag in summarize(steady).flags}


def test_a_copied_block_is_seen_even_among_many() -> None:
    trials = [trial("baseline", block=block, decode_ms=100.013) for block in range(3)]

    (flag,) = [f for f in summarize(campaign(trials)).flags if f.name == "zero-spread"]

    assert flag.message == "1 of 1 repeated trials took exactly the same time, as if copied."


def test_only_the_weights_that_a_token_uses_count_for_the_roofline() -> None:
    # 0.7 of 7 billion parameters: 0.1 GB per token need 2 ms at 51 GB/s, and a token takes 10.
    sparse = memory(3200, active=700_000_000)

    assert "above-roofline" not in {flag.name for flag in summarize(sparse).flags}


def test_unknown_memory_makes_no_roofline() -> None:
    assert "above-roofline" not in {flag.name for flag in summarize(memory(None)).flags}


def test_a_machine_that_was_busy_from_the_start_is_reported_once() -> None:
    looks = (
        Snapshot(moment="before", load_1min=9.0),
        Snapshot(moment="after", load_1min=30.0, gpu_power_w=80.0),
    )

    names = [f.name for f in summarize(replace(CLEAN, environment=looks)).flags]

    assert names == ["busy-machine"]


@pytest.mark.parametrize(("used", "names"), [(0.03, []), (0.6, ["busy-machine"])])
def test_the_load_of_a_campaign_that_just_ended_is_not_another_program(
    used: float, names: list[str]
) -> None:
    """The load average still includes it for a minute; the current usage does not."""
    looks = (Snapshot(moment="before", load_1min=16.0, busy_fraction=used),)

    assert [f.name for f in summarize(replace(CLEAN, environment=looks)).flags] == names


def test_unplugging_during_a_campaign_differs_from_running_on_battery() -> None:
    looks = [
        (
            Snapshot(moment="before", on_battery=first),
            Snapshot(moment="after", on_battery=True, gpu_power_w=80.0),
        )
        for first in (False, True)
    ]

    said = [summarize(replace(CLEAN, environment=each)).flags[0].message for each in looks]

    assert said == [
        "The machine was plugged in or unplugged during the campaign.",
        "The machine ran on battery, which limits its power.",
    ]


def test_a_clock_drop_names_the_part_and_the_readings() -> None:
    (flag,) = summarize(EXAMPLES["clock-drop:readings"][0]).flags

    assert flag.message == "During the campaign the GPU clock fell from 2500 to 2230 MHz."


def test_failures_raise_flags_and_break_nothing() -> None:
    arm = replace(SPEC, outcome="failed", reason="crashed")
    submission = campaign([failed("baseline"), failed("spec")], arms=(BASELINE, arm))

    names = [flag.name for flag in summarize(submission).flags]

    assert names == ["missing-trials", "missing-trials", "small-campaign"]
