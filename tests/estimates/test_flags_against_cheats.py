"""Flags against cheats find impossible figures, and spare effects of clocks and methods."""

import random
from dataclasses import replace

import pytest

from bench.flags import HONEST_WORLDS, cheated, honest, parted, unlike
from estimates.model import Flag
from estimates.summary import summarize
from schemas.submission import Gpu, Placement, Submission
from tests.estimates.campaigns import BASELINE, LOOKUP, SPEC, campaign, trial
from tests.estimates.flag_builders import PROMPTS, crashing, round_costs, tied
from tests.estimates.flag_machines import environment
from tests.pipeline.corpus_examples import corpus_flags
from tests.samples import sample

ON_CARD = replace(SPEC, placement=Placement(target_gpu_layers_requested=-1))
LOOKS_UP = replace(SPEC, method=LOOKUP)


def raised(submission: Submission) -> dict[str, Flag]:
    return {flag.name: flag for flag in summarize(submission).flags}


def test_a_draft_is_read_as_often_as_it_drafts() -> None:
    # Beyond the cache of 128 MiB the draft has 397 MB, the target 3500: 4 x 0.8 x 0.113 = 0.36
    # plain tokens. The memory of an RTX 4060 delivers it in 1.46 of 20 ms: 4 x 0.073 = 0.29. A
    # round of 1.25 costs less than 1.36 / 1.05 = 1.30, and no less than 1.29 / 1.05 = 1.23.
    by_target = raised(round_costs(1.25, 1.25, 1.25, drafted=4.0, spec=ON_CARD))
    by_memory = raised(round_costs(1.25, 1.25, 1.25, drafted=4.0))

    assert by_target["cheap-rounds"].message == (
        "A round of spec takes only as long as 1.25 plain tokens, but just reading the weights for "
        "a round takes at least as long as 1.36 plain tokens."
    )
    assert "cheap-rounds" not in by_memory


def test_a_client_may_miss_the_first_of_fifty_rounds() -> None:
    timed_by_engine = round_costs(0.94, 0.94, 0.94)
    engine = replace(timed_by_engine.engine, runner="openai")

    assert "cheap-rounds" in raised(timed_by_engine)
    assert "cheap-rounds" not in raised(replace(timed_by_engine, engine=engine))


def test_the_experts_of_a_target_may_be_in_main_memory() -> None:
    dense = round_costs(1.25, 1.25, 1.25, drafted=4.0, spec=ON_CARD)
    sparse = replace(dense, target=replace(dense.target, active_parameters=6_000_000_000))

    assert "cheap-rounds" not in raised(sparse)


def test_rounds_that_were_not_counted_yield_the_depth_and_one_at_most() -> None:
    made = round_costs(0.92, 0.92, 0.92)
    faster = round_costs(0.37, 0.37, 0.37)
    uncounted = [
        replace(each, trials=tuple(replace(t, rounds=None, drafted=None) for t in each.trials))
        for each in (made, faster)
    ]

    # 2 / 0.92 and 2 / 0.37 times as fast, and a depth of four.
    assert ["cheap-rounds" in raised(each) for each in uncounted] == [False, True]


def look_up(factor: float) -> Submission:
    """Twelve prompts on which each drafted token costs half a plain one, times a factor."""
    lengths = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    made = [round_costs((1 + length / 2) * factor, drafted=length) for length in lengths]
    prompts = tuple(f"code-{number}" for number, _ in enumerate(lengths))
    trials = [
        replace(each, prompt=prompt)
        for prompt, one in zip(prompts, made, strict=True)
        for each in one.trials
    ]
    return campaign(trials, prompts=prompts, arms=(BASELINE, LOOKS_UP))


def test_a_look_up_that_finds_nothing_costs_a_plain_token() -> None:
    # The mean round costs 2.3 plain tokens, or 1.8: only its beginning shows the factor.
    assert "cheap-rounds" not in raised(look_up(1.0))
    assert raised(look_up(0.8))["cheap-rounds"].arm == "spec"


def test_a_few_prompts_from_a_cache_are_far_below() -> None:
    # One of ten is a tenth, and two are more.
    one, two = [0.3, *[1.5] * 9], [0.3, 0.3, *[1.5] * 8]

    assert "cheap-rounds" not in raised(round_costs(*one))
    assert "cheap-rounds" in raised(round_costs(*two))


@pytest.mark.parametrize("order", ["sequential", "unknown"])
def test_arms_measured_one_after_the_other_may_differ_by_drift(order: str) -> None:
    drifted, faster = round_costs(0.85, 0.85, 0.85), round_costs(0.75, 0.75, 0.75)
    drifted, faster = (
        replace(each, design=replace(each.design, order=order)) for each in (drifted, faster)
    )

    assert "cheap-rounds" not in raised(drifted)
    assert "cheap-rounds" in raised(faster)


def test_a_stall_in_one_clock_is_not_a_cheap_round() -> None:
    # Whole times say 0.8, the medians of rounds say 1: the baseline stalled.
    made = round_costs(0.8, 0.8, 0.8)
    trials = (
        replace(
            each,
            drafted_histogram=(each.rounds or 0,),
            round_ms_median=(20.0,) if each.arm == "baseline" else (20.5,),
        )
        for each in made.trials
    )

    assert "cheap-rounds" in raised(made)
    assert "cheap-rounds" not in raised(replace(made, trials=tuple(trials)))


def test_a_baseline_that_fails_alone_is_serious() -> None:
    found = raised(crashing(8, arm="baseline"))["one-sided-failures"]

    assert (found.severity, found.arm) == ("serious", "baseline")
    assert found.message == "The baseline failed on 8 prompts that spec finished."


def test_timed_out_trials_count_in_the_figure_and_raise_no_flag() -> None:
    assert "one-sided-failures" not in raised(crashing(8, reason="timed-out"))


def test_long_answers_meet_near_ties() -> None:
    # In 600 tokens 1 - 1 / e² = 86 % of the answers meet one.
    assert "near-ties" not in raised(tied(3, limit=600))
    assert "near-ties" in raised(tied(4, limit=600))


@pytest.mark.parametrize(("mhz", "found"), [(None, "none of the 1 readings"), (300.0, "300 MHz")])
def test_a_card_is_idle_or_absent(mhz: float | None, found: str) -> None:
    flag = raised(environment("after", gpu_clock_mhz=mhz))["gpu-use-not-shown"]

    assert found in flag.message


def test_only_nvidia_cards_are_always_read() -> None:
    bare = environment("after")
    amd = replace(bare.machine, gpus=(Gpu(name="AMD Radeon RX 7900 XTX", vendor="amd"),))
    vulkan = replace(bare, machine=amd, engine=replace(bare.engine, backend="vulkan"))

    assert "gpu-use-not-shown" not in raised(vulkan)


@pytest.mark.parametrize("tick_ms", [10.0, 15.625, 15.6])
def test_a_coarse_clock_ties(tick_ms: float) -> None:
    # Half of the repetitions have the same reading, and all have in the short answers.
    trials = [
        trial(arm, prompt, block, decode_ms=round(tick_ms * ticks, 3))
        for number, prompt in enumerate(PROMPTS)
        for block in range(2)
        for arm, ticks in (("baseline", 60 + number % 2 * block), ("spec", 3 + number))
    ]

    found = raised(campaign(trials, prompts=PROMPTS))

    assert found.keys().isdisjoint({"zero-spread", "repeated-block"})


def test_repetitions_are_excused_only_by_multiples_of_a_clock_tick() -> None:
    # No noise at all: 100, 101 ... times 4.2 ms, twice.
    trials = [
        trial(arm, prompt, block, decode_ms=round(4.2 * (first + number), 3))
        for number, prompt in enumerate(PROMPTS)
        for block in range(2)
        for arm, first in (("baseline", 100), ("spec", 60))
    ]

    assert "zero-spread" in raised(campaign(trials, prompts=PROMPTS))


def test_the_flags_spare_honest_files_and_find_their_cheats() -> None:
    spared = [row for world in HONEST_WORLDS for row in honest(world, 3)]
    found = cheated("times of the arms / 1.6", 3)

    assert [row.fired for row in spared] == [0] * len(spared)
    assert found.fired == 3


def test_machines_that_part_at_near_ties_are_not_unlike_their_peers() -> None:
    made = sample(contributor="eve")
    others = [sample(seed=at, contributor=name) for at, name in enumerate(("ada", "bob"), 1)]
    all_parted = parted(made, random.Random(1), share=1.0)  # noqa: S311 - a simulation

    assert [unlike(seed) for seed in range(20)] == [False] * 20
    assert [flag.name for flag in corpus_flags(made, others)] == []
    assert [flag.name for flag in corpus_flags(all_parted, others)] == ["unlike-peers"]
