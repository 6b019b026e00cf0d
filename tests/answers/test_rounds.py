"""Rounds cost their memory traffic; a mixture's tokens share experts; text drafts are free."""

import pytest
from msgspec.structs import replace

from answers.model import LayerPlacement, Memory, ModelFacts, Setting
from answers.placement import Draft, LoadPlan, fit
from answers.rounds import (
    RoundParts,
    Speculation,
    chance_of_gain,
    limits_of,
    parts_of,
    round_time_ms,
    speedup,
)
from answers.speed import MachineSpeed, SpeedEstimate, StepBytes, plain, step_ms
from tests.known_models import known

GB = 1e9
LAUNCHES_MS = 0.02


def load(target: ModelFacts, draft: ModelFacts | None = None, **others: object) -> LoadPlan:
    roomy = LoadPlan(
        target=target,
        setting=Setting(),
        devices=(Memory(name="card", free_mib=90_000),),
        host=Memory(name="host", free_mib=90_000),
        draft=Draft(facts=draft) if draft else None,
    )
    return replace(roomy, **others)  # type: ignore[arg-type]


def drafting_ms(case: LoadPlan, machine: MachineSpeed, source: str, layers: int) -> float:
    """Milliseconds of one drafted token without the starts of the draft's kernels."""
    parts = parts_of(case, fit(case).placement, machine, source)  # type: ignore[arg-type]
    return parts.draft_ms - layers * LAUNCHES_MS


SLOW = MachineSpeed(
    device_gb_per_s=1000, host_gb_per_s=80, device_reached_gb_per_s=300, host_reached_gb_per_s=30
)
FAST = replace(SLOW, device_reached_gb_per_s=600, host_reached_gb_per_s=60)


def test_twice_the_rate_that_a_card_reached_halves_the_time_of_drafting() -> None:
    draft = known("qwen3-0.6b")
    case, layers = load(known("qwen3-8b"), draft), len(draft.layers)

    slow, fast = (drafting_ms(case, each, "model", layers) for each in (SLOW, FAST))

    read = draft.output_bytes + sum(layer.weight_bytes for layer in draft.layers)
    assert slow == pytest.approx(read / (300 * GB) * 1000)
    assert fast == pytest.approx(slow / 2)


def test_a_head_is_read_at_the_same_rate_as_its_target() -> None:
    target = known("qwen3.5-9b", with_head=True)
    case = load(target, uses_head=True)

    slow, fast = (drafting_ms(case, each, "own-head", 1) for each in (SLOW, FAST))

    read = target.output_bytes + sum(layer.weight_bytes for layer in target.draft_layers)
    assert slow == pytest.approx(read / (300 * GB) * 1000)
    assert fast == pytest.approx(slow / 2)


def test_a_draft_in_main_memory_is_read_at_the_rate_of_main_memory() -> None:
    case = load(known("qwen3-8b"), known("qwen3-0.6b"))
    assert case.draft is not None
    on_host = replace(case, draft=replace(case.draft, on_host=True))

    slow, fast = (drafting_ms(on_host, each, "model", 0) for each in (SLOW, FAST))

    assert slow == pytest.approx(10 * drafting_ms(case, SLOW, "model", 28))
    assert fast == pytest.approx(slow / 2)


def test_without_results_a_card_is_read_at_a_share_of_its_nominal_rate() -> None:
    case = load(known("qwen3-8b"), known("qwen3-0.6b"))
    nominal = MachineSpeed(device_gb_per_s=1000, host_gb_per_s=80)

    # 62 % of 1,000 GB/s are 620.
    assert drafting_ms(case, nominal, "model", 28) == pytest.approx(
        drafting_ms(case, SLOW, "model", 28) * 300 / 620
    )


# One GB for every token and 4 GB of experts of which a token needs an eighth.
MIXTURE = RoundParts(
    step=StepBytes(device=1 * GB, host=0, device_experts=4 * GB, used=1 / 8),
    draft_ms=0.0,
    replays=False,
    shared=False,
)
FLAT = replace(SLOW, wider_step=0.0)
HEAD = Speculation(source="own-head", method="mtp", depth=3, acceptance=0.5)


def test_a_wider_step_reads_more_experts_but_shares_them_between_tokens() -> None:
    # Alone 1 + 4/8 GB; four tokens that choose alike the same, independent ones 1 - (7/8)^4.
    alone, alike, apart, usual = (
        step_ms(MIXTURE.step, FLAT, tokens, fresh)
        for tokens, fresh in ((1, 1.0), (4, 0.0), (4, 1.0), (4, 0.35))
    )

    assert alone == alike == pytest.approx(1.5 / 300 * 1000)
    assert apart == pytest.approx((1 + 4 * (1 - (7 / 8) ** 4)) / 300 * 1000)
    # 1 + 3 · 0.35 choices count.
    assert usual == pytest.approx((1 + 4 * (1 - (7 / 8) ** 2.05)) / 300 * 1000)


def test_a_mixtures_speedup_lies_between_independent_and_identical_experts() -> None:
    base = SpeedEstimate(estimate=200.0, low=150.0, high=250.0, basis="nearest")  # 5 ms a step

    gain = speedup(MIXTURE, base, FLAT, HEAD)

    # 1.875 tokens a round: 1 + 1/2 + 1/4 + 1/8.
    identical = 1.875 * 5 / round_time_ms(MIXTURE, FLAT, HEAD, 0.5, fresh=0.0)
    independent = 1.875 * 5 / round_time_ms(MIXTURE, FLAT, HEAD, 0.5, fresh=1.0)
    assert identical == pytest.approx(1.875)
    assert independent == pytest.approx(1.875 * 1.5 / (1 + 4 * (1 - (7 / 8) ** 4)))
    assert independent < gain.estimate < identical
    assert gain.low < independent
    assert gain.high > identical


def test_text_drafts_cost_a_wider_step_only_if_they_fire() -> None:
    target = known("qwen3-8b")
    case = load(target)
    found = fit(case)
    machine = MachineSpeed(device_gb_per_s=1000, host_gb_per_s=80, wider_step=0.06)
    base, parts = plain(case, found, machine), parts_of(case, found.placement, machine, "text")

    def gain(acceptance: float) -> float:
        drafts = Speculation(source="text", method="ngram-simple", depth=2, acceptance=acceptance)
        return speedup(parts, base, machine, drafts).estimate

    assert parts.draft_ms == 0
    assert gain(0.0) == pytest.approx(1.0)
    # 1.75 tokens; half of the rounds are wider by two tokens of 6 % each.
    assert gain(0.5) == pytest.approx(1.75 / 1.06)
    assert gain(1.0) == pytest.approx(3 / 1.12)


def test_a_target_that_goes_back_to_a_checkpoint_reads_the_accepted_tokens_again() -> None:
    parts = RoundParts(
        step=StepBytes(device=3 * GB, host=0), draft_ms=1.0, replays=True, shared=False
    )

    spent = round_time_ms(parts, FLAT, HEAD, 0.5)

    # 10 ms to check, three drafts, and in seven rounds of eight a second step.
    assert spent == pytest.approx(10 + 3 + 7 / 8 * 10)


@pytest.mark.parametrize(
    ("estimate", "low", "high", "chance"),
    [
        (1.2, 0.96, 1.5, 0.910),  # ln 1.2 / (ln 1.25 / 1.645) = 1.34 deviations
        (1.0, 0.8, 1.25, 0.5),
        (0.8, 0.64, 1.0, 0.05),  # 1 is the upper end of the interval
        (1.25, 1.0, 1.6, 0.95),
    ],
)
def test_the_chance_of_a_gain_is_that_of_a_lognormal(
    estimate: float, low: float, high: float, chance: float
) -> None:
    assert chance_of_gain(estimate, low, high) == pytest.approx(chance, abs=0.001)


def test_layers_in_main_memory_are_paid_at_its_rate() -> None:
    target = known("qwen3-8b")
    case, half = load(target), LayerPlacement(layers=18)
    whole = parts_of(case, fit(case).placement, SLOW, "text")

    partly = parts_of(case, half, SLOW, "text")

    assert whole.step.host == 0
    assert partly.step.host > 0
    assert step_ms(partly.step, SLOW) > 3 * step_ms(whole.step, SLOW)


def test_a_draft_half_as_large_as_its_target_cannot_double_the_speed() -> None:
    target = known("qwen3-8b")
    half = load(target, replace(target, layers=target.layers[:18]))
    share = (18 * target.layers[0].weight_bytes + target.output_bytes) / (
        36 * target.layers[0].weight_bytes + target.output_bytes
    )
    model = Speculation(source="model", method="draft-model", depth=1)

    usual, most = limits_of(half, model, one_memory=True)

    # Of one drafted token 86 % are usually accepted; a draft of half the layers costs a bit more
    # than half a step, because both models have the output matrix.
    assert 0.5 < share < 0.6
    assert most == pytest.approx(2 / (1 + share), rel=0.01)
    assert usual == pytest.approx(1.86 / (1 + share), rel=0.01)
    assert limits_of(half, model, one_memory=False) == (pytest.approx(1.86), 2)


def test_text_drafts_cost_nothing_at_best() -> None:
    text = Speculation(source="text", method="ngram-simple", depth=8)

    assert limits_of(load(known("qwen3-8b")), text, one_memory=True) == (9, 9)
