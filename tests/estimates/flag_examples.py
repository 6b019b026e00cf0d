"""Submissions that just raise, and that just do not raise, each flag."""

from dataclasses import replace

from estimates.running_order import plan_digest
from schemas.method import Method
from schemas.submission import Submission
from tests.estimates.campaigns import (
    BASELINE,
    SPEC,
    blocks_of,
    campaign,
    failed,
    trial,
    without_prompts,
    without_trials,
)
from tests.estimates.flag_builders import (
    PROMPTS,
    RELEASED,
    answering,
    answering_alike,
    block_times,
    by_position,
    concurrent,
    control,
    costly,
    counted,
    crashing,
    design,
    diverged,
    forced,
    limited,
    mispredicted,
    named,
    on_4090,
    outputs,
    processor_time,
    requested,
    round_costs,
    single_step,
    stalling,
    started,
    suite,
    tied,
    times,
)
from tests.estimates.flag_machines import (
    CLEAN,
    called,
    environment,
    gpu,
    gpu_clocks,
    memory,
    peak,
    unsized,
)
from tests.samples import sample

EVEN = by_position(lambda _order, _block, _prompt: 1.0)
RAISING: dict[str, Submission] = {
    "failed-arm": campaign(
        [trial("baseline")],
        arms=(BASELINE, replace(SPEC, outcome="failed", reason="out-of-memory")),
    ),
    "failed-trials": campaign([trial("baseline"), trial("spec"), failed("spec", block=1)]),
    # Of eight prompts the arm ran six.
    "missing-prompts": without_trials(
        by_position(lambda _order, _block, _prompt: 1.0), "spec", PROMPTS[6:]
    ),
    # A sign test over eight prompts: 2 / 256.
    "one-sided-failures": crashing(8),
    "unpaired-trials": campaign([trial("baseline"), trial("spec"), trial("spec", block=1)]),
    "interrupted": design(ended="interrupted"),
    "budget-spent": design(ended="budget-spent"),
    "resumed": design(resumed=1),
    "quick": replace(CLEAN, profile="quick"),
    "short-answers": limited(31),
    "single-block": sample(blocks=1),
    "not-interleaved": design(order="sequential"),
    "order-not-planned": without_prompts(CLEAN, 2),
    "plan-changed": design(plan_sha256="0" * 64),
    "private-data": replace(CLEAN, notes="Questions to ada@example.org"),
    "confusable-letters": named("RTX 4\u041e90"),
    "never-drafted": campaign([trial("baseline"), trial("spec", drafted=0)]),
    "arguments-differ": started(("--threads", "1"), ("--threads", "8", "-md", "…")),
    "counters-disagree": counted(by_page=9),
    # 10 tokens in 5 rounds are 2.0 a round, 20 % below 2.5.
    "acceptance-not-as-set": forced(length=2.5),
    "diverged": diverged(2.0),
    "near-ties": tied(3),
    # Five of eight prompts are worse and none is better: p = 2 / 32.
    "invalid-answers": answering(base=0, spec=5),
    "baseline-not-reproducible": outputs("ffffffffffffffff"),
    "concurrent-outputs-vary": concurrent(diverged(5.0)),
    # 100 and 120 ms: mean 110, standard deviation 14.1, CV 12.9 %.
    "block-spread": block_times((100.0, 120.0), (50.0, 51.0)),
    # One of 16 arms and prompts takes 1, 3 and 1 times as long: mean 1.67, 80 % away.
    "block-outlier": by_position(lambda order, _block, _prompt: 3.0 if order == 20 else 1.0),
    "zero-spread": block_times((100.013, 100.013), (50.4, 51.9)),
    # The second block takes 3 % longer throughout, with 0.01 % of noise.
    "repeated-block": blocks_of(PROMPTS, 1.0, 1.03, noise=0.0001),
    # Three of twelve prompts take 7 to 10 times as long, once.
    "uneven-baseline": times([100.1, 1000.2, 99.3, 700.4, 101.5, 98.6, 680.7, 100.8, 99.9, 101.0]),
    # 100 ms in all, but ten rounds with a median of 4 ms: a factor of 2.5.
    "whole-requests-only": requested(150.0),
    "stalls": stalling(500.0),
    "clocks-disagree": campaign(
        [trial("baseline", drafted_histogram=(10,), round_ms_median=(4.0,)), trial("spec")]
    ),
    "drift": by_position(lambda order, _block, _prompt: 1 + 0.3 * order / 47),
    "first-block": by_position(lambda _order, block, _prompt: 1.2 if block == 0 else 1.0),
    "cold-start": by_position(lambda order, _block, _prompt: 2.0 if order == 1 else 1.0),
    "control-excludes-one": control(1.05),
    "loop-overhead": control(0.9, Method(type="empty-draft")),
    "processor-time-disagrees": processor_time(16.0),
    "round-cost-spread": costly(2.0),
    "probe-disagrees": single_step(7.0),
    "prediction-missed": mispredicted(3.0),
    # 3200 MT/s over two channels are 51 GB/s: 1 GB takes 19.5 ms at least.
    "above-roofline": memory(3200),
    "one-start": replace(campaign([trial("baseline"), trial("spec")]), tier="imported"),
    "device-unidentified": called("AMD Device 7551"),
    "speed-unchecked": unsized(None),
    "cheap-rounds": round_costs(0.92, 0.92, 0.92),
    # 30 J in 0.1 s are 300 W.
    "above-memory": peak(8200),
    "rounded-times": times([2000.0 + 10 * number for number in range(12)]),
    # Thousandths that always end in 5.
    "unknown-suite": suite("f" * 64),
    "stolen-time": environment("after", steal_fraction=0.4),
    "busy-machine": environment(load_1min=9.0),
    # 16 cores, eight threads of its own: ten others.
    "load-appeared": environment("after", load_1min=18.0),
    "on-battery": environment("after", on_battery=True),
    # The least of the first half is 2500, the most of the second 2200: 12 % below.
    "clock-drop": gpu_clocks(2600.0, 2500.0, 2200.0, 2100.0),
    "gpu-throttled": environment("during", gpu_throttled=True),
    "gpu-use-not-shown": environment("after"),
    "same-answers": answering_alike(12),
    # 3.5 GB in 72 ms are 48.6 GB/s, below 5 % of 1008.
    "below-bandwidth": on_4090(3.6),
    "power-limited": gpu(90.0),
}

QUIET: dict[str, Submission] = {
    "failed-arm": CLEAN,
    "failed-trials": CLEAN,
    # Seven of eight.
    "missing-prompts": without_trials(
        by_position(lambda _order, _block, _prompt: 1.0), "spec", PROMPTS[7:]
    ),
    "one-sided-failures": crashing(7),
    "unpaired-trials": campaign([trial("baseline"), trial("spec"), trial("baseline", block=1)]),
    "interrupted": CLEAN,
    "budget-spent": design(ended="precise-enough"),
    "resumed": design(resumed=0),
    "quick": replace(CLEAN, profile="custom"),
    "short-answers": limited(32),
    "single-block": CLEAN,
    "not-interleaved": design(order="abba"),
    "order-not-planned": CLEAN,
    "plan-changed": design(
        plan_sha256=plan_digest(
            [arm.id for arm in CLEAN.arms],
            [prompt.id for prompt in CLEAN.suite.prompts],
            CLEAN.design,
        )
    ),
    "private-data": replace(CLEAN, notes="Fans @ 60 %, driver 31.0.15.4601"),
    "confusable-letters": named(
        "\u042d\u043b\u044c\u0431\u0440\u0443\u0441-8\u0421, \u6469\u5c14\u7ebf\u7a0b"
    ),
    "never-drafted": campaign([trial("baseline"), trial("spec", drafted=1)]),
    "arguments-differ": started(("--threads", "8"), ("--threads=8", "-md", "…")),
    "counters-disagree": counted(by_page=8),
    "acceptance-not-as-set": forced(length=2.1),
    "diverged": diverged(0.01),
    "near-ties": tied(2),
    "invalid-answers": answering(base=0, spec=4),
    "baseline-not-reproducible": outputs("00112233aabbccdd"),
    "concurrent-outputs-vary": diverged(5.0),
    # 100 and 115 ms: mean 107.5, standard deviation 10.6, CV 9.9 %.
    "block-spread": block_times((100.0, 115.0), (50.0, 51.0)),
    # 1, 1.9 and 1 times as long: mean 1.3, 46 % away.
    "block-outlier": by_position(lambda order, _block, _prompt: 1.9 if order == 20 else 1.0),
    "zero-spread": block_times((100.013, 100.014), (50.4, 51.9)),
    "repeated-block": blocks_of(PROMPTS, 1.0, 1.03, noise=0.002),
    # A single prompt that takes 1.7 times as long may be noise where nothing was repeated.
    "uneven-baseline": times([100.1, 170.2, 99.3, 101.5, 98.6, 100.8, 99.9, 101.0]),
    # 100 ms in all and ten rounds of 7 ms: a factor of 1.43.
    "whole-requests-only": requested(100.0),
    "stalls": stalling(51.0),
    "clocks-disagree": campaign(
        [trial("baseline", drafted_histogram=(10,), round_ms_median=(7.0,)), trial("spec")]
    ),
    "drift": by_position(lambda _order, _block, _prompt: 1.0),
    "first-block": by_position(lambda _order, block, _prompt: 1.04 if block == 0 else 1.0),
    "cold-start": by_position(lambda order, _block, _prompt: 1.2 if order == 1 else 1.0),
    "control-excludes-one": control(1.005),
    "loop-overhead": control(0.98, Method(type="empty-draft")),
    "processor-time-disagrees": processor_time(10.5),
    "round-cost-spread": costly(1.1),
    "probe-disagrees": single_step(9.0),
    "prediction-missed": mispredicted(1.1),
    # 5600 MT/s over two channels are 90 GB/s: 11.2 ms, within the allowance of 25 %.
    "above-roofline": memory(5600),
    "one-start": campaign([trial("baseline"), trial("spec")]),
    "device-unidentified": called("AMD Radeon RX 9070 XT"),
    "speed-unchecked": unsized(7_000_000_000),
    "cheap-rounds": round_costs(0.96, 0.96, 0.96),
    # 14 J in 0.1 s are 140 W: a limit is an average.
    "above-memory": peak(8100),
    "rounded-times": times([*(2000.0 + 10 * number for number in range(11)), 2001.0]),
    "unknown-suite": suite(RELEASED),
    "stolen-time": environment("after", steal_fraction=0.04),
    "busy-machine": environment("after", load_1min=16.0),
    # Seven others on 16 cores.
    "load-appeared": environment("after", load_1min=15.0),
    "on-battery": environment("before", on_battery=False),
    # A single slow reading is not a trend, and before the campaign the card is idle.
    "clock-drop": gpu_clocks(2600.0, 1800.0, 2500.0, 2600.0),
    "gpu-throttled": environment("during", gpu_throttled=False),
    "gpu-use-not-shown": environment("after", gpu_clock_mhz=510.0),
    "same-answers": answering_alike(11),
    # 3.5 GB in 68 ms are 51.5 GB/s.
    "below-bandwidth": on_4090(3.4),
    "power-limited": gpu(115.0),
}

# Just over and just under the bound of a flag, if the examples above are farther apart.
BOUNDS: dict[str, tuple[Submission, Submission]] = {
    # 11.1 and 9.9 % of the mean.
    "block-spread": (
        block_times((100.0, 117.0), (50.0, 51.0)),
        block_times((100.0, 115.0), (50.0, 51.0)),
    ),
    # 57 and 46 % from the mean of three blocks.
    "block-outlier": (
        by_position(lambda order, _block, _prompt: 2.2 if order == 20 else 1.0),
        by_position(lambda order, _block, _prompt: 1.9 if order == 20 else 1.0),
    ),
    "first-block": (
        by_position(lambda _order, block, _prompt: 1.055 if block == 0 else 1.0),
        by_position(lambda _order, block, _prompt: 1.045 if block == 0 else 1.0),
    ),
    "cold-start": (
        by_position(lambda order, _block, _prompt: 1.28 if order == 1 else 1.0),
        by_position(lambda order, _block, _prompt: 1.22 if order == 1 else 1.0),
    ),
    "drift": (
        by_position(lambda order, _block, _prompt: 1 + 0.022 * order / 47),
        by_position(lambda order, _block, _prompt: 1 + 0.018 * order / 47),
    ),
    # The upper ends of the intervals are 0.967 and 0.974.
    "loop-overhead": (
        control(0.955, Method(type="empty-draft")),
        control(0.962, Method(type="empty-draft")),
    ),
    # 11 and 8 % from the ratio by the clock.
    "processor-time-disagrees": (processor_time(11.2), processor_time(10.9)),
    # 10 ms are 1.33 and 1.27 probed steps.
    "probe-disagrees": (single_step(7.5), single_step(7.9)),
    # 29 and 22 % slower than predicted.
    "prediction-missed": (mispredicted(1.4), mispredicted(1.28)),
    # 100 GB/s are 1.30 and 1.22 times what the memory moves.
    "above-roofline": (memory(4800), memory(5120)),
    # The ten rounds alone take 64 and 70 of the 100 ms.
    "clocks-disagree": (
        campaign(
            [trial("baseline", drafted_histogram=(10,), round_ms_median=(6.4,)), trial("spec")]
        ),
        campaign(
            [trial("baseline", drafted_histogram=(10,), round_ms_median=(7.0,)), trial("spec")]
        ),
    ),
    # 17 and 13 % below what was set.
    "acceptance-not-as-set": (forced(length=2.4), forced(length=2.3)),
    # Twelve whole multiples of ten, and eleven.
    "rounded-times": (
        times([2000.0 + 10 * number for number in range(12)]),
        times([2000.0 + 10 * number for number in range(11)]),
    ),
    # By the stream 1.00 times as fast, by whole requests 1.12 and 1.09 times.
    "whole-requests-only": (requested(112.0), requested(109.0)),
    "stolen-time": (
        environment("after", steal_fraction=0.055),
        environment("after", steal_fraction=0.045),
    ),
    "busy-machine": (environment(load_1min=8.5), environment(load_1min=7.5)),
    "clock-drop": (
        gpu_clocks(2600.0, 2500.0, 2230.0, 2100.0),
        gpu_clocks(2600.0, 2500.0, 2280.0, 2100.0),
    ),
}
