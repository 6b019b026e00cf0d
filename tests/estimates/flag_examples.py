"""A submission that just raises each flag, and one that just does not.

After a colon comes the case of the flag.
"""

from dataclasses import replace

from estimates.running_order import plan_digest
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
    mispredicted,
    on_4090,
    outputs,
    requested,
    round_costs,
    single_step,
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
    unsized,
)
from tests.samples import sample

EXAMPLES: dict[str, tuple[Submission, Submission]] = {
    "missing-trials:arm": (
        campaign(
            [trial("baseline")],
            arms=(BASELINE, replace(SPEC, outcome="failed", reason="out-of-memory")),
        ),
        CLEAN,
    ),
    "missing-trials:failed": (
        campaign([trial("baseline"), trial("spec"), failed("spec", block=1)]),
        CLEAN,
    ),
    # Of eight prompts the arm ran six, and seven.
    "missing-trials:prompts": (
        without_trials(by_position(lambda _order, _block, _prompt: 1.0), "spec", PROMPTS[6:]),
        without_trials(by_position(lambda _order, _block, _prompt: 1.0), "spec", PROMPTS[7:]),
    ),
    # A sign test over eight prompts: 2 / 256.
    "one-sided-failures": (crashing(8), crashing(7)),
    "missing-trials:unpaired": (
        campaign([trial("baseline"), trial("spec"), trial("spec", block=1)]),
        campaign([trial("baseline"), trial("spec"), trial("baseline", block=1)]),
    ),
    "stopped:interrupted": (design(ended="interrupted"), CLEAN),
    "stopped:budget-spent": (design(ended="budget-spent"), design(ended="precise-enough")),
    "stopped:resumed": (design(resumed=1), design(resumed=0)),
    "small-campaign:quick": (replace(CLEAN, profile="quick"), replace(CLEAN, profile="custom")),
    "small-campaign:single-block": (sample(blocks=1), CLEAN),
    "not-interleaved": (design(order="sequential"), design(order="abba")),
    "plan-changed:order": (without_prompts(CLEAN, 2), CLEAN),
    "plan-changed:other": (
        design(plan_sha256="0" * 64),
        design(
            plan_sha256=plan_digest(
                [arm.id for arm in CLEAN.arms],
                [prompt.id for prompt in CLEAN.suite.prompts],
                CLEAN.design,
            )
        ),
    ),
    "never-drafted": (
        campaign([trial("baseline"), trial("spec", drafted=0)]),
        campaign([trial("baseline"), trial("spec", drafted=1)]),
    ),
    "arguments-differ": (
        started(("--threads", "1"), ("--threads", "8", "-md", "…")),
        started(("--threads", "8"), ("--threads=8", "-md", "…")),
    ),
    "unknown-options": (
        replace(CLEAN, settings=replace(CLEAN.settings, server_arguments=("--unheard-of 1",))),
        replace(CLEAN, settings=replace(CLEAN.settings, server_arguments=("--swa-full",))),
    ),
    "counters-disagree": (counted(by_page=9), counted(by_page=8)),
    # 17 and 13 % below what was set.
    "acceptance-not-as-set": (forced(length=2.4), forced(length=2.3)),
    "diverged": (diverged(2.0), diverged(0.01)),
    "near-ties": (tied(3), tied(2)),
    # Five of eight prompts are worse and none is better: p = 2 / 32.
    "invalid-answers": (answering(base=0, spec=5), answering(base=0, spec=4)),
    "baseline-not-reproducible": (outputs("ffffffffffffffff"), outputs("00112233aabbccdd")),
    "concurrent-outputs-vary": (concurrent(diverged(5.0)), diverged(5.0)),
    # 11.1 and 9.9 % of the mean.
    "block-spread": (
        block_times((100.0, 117.0), (50.0, 51.0)),
        block_times((100.0, 115.0), (50.0, 51.0)),
    ),
    "zero-spread": (
        block_times((100.013, 100.013), (50.4, 51.9)),
        block_times((100.013, 100.014), (50.4, 51.9)),
    ),
    # The second block takes 3 % longer throughout, with 0.01 % of noise.
    "repeated-block": (
        blocks_of(PROMPTS, 1.0, 1.03, noise=0.0001),
        blocks_of(PROMPTS, 1.0, 1.03, noise=0.002),
    ),
    # A single prompt that takes 1.7 times as long may be noise where nothing was repeated.
    "uneven-baseline": (
        times([100.1, 1000.2, 99.3, 700.4, 101.5, 98.6, 680.7, 100.8, 99.9, 101.0]),
        times([100.1, 170.2, 99.3, 101.5, 98.6, 100.8, 99.9, 101.0]),
    ),
    # By the stream 1.00 times as fast, by whole requests 1.12 and 1.09 times.
    "whole-requests-only": (requested(112.0), requested(109.0)),
    "drift": (
        by_position(lambda order, _block, _prompt: 1 + 0.022 * order / 47),
        by_position(lambda order, _block, _prompt: 1 + 0.018 * order / 47),
    ),
    "first-block": (
        by_position(lambda _order, block, _prompt: 1.055 if block == 0 else 1.0),
        by_position(lambda _order, block, _prompt: 1.045 if block == 0 else 1.0),
    ),
    "control-excludes-one": (control(1.05), control(1.005)),
    "round-cost-spread": (costly(2.0), costly(1.1)),
    # 10 ms are 1.33 and 1.27 probed steps.
    "probe-disagrees": (single_step(7.5), single_step(7.9)),
    # 29 and 22 % slower than predicted.
    "prediction-missed": (mispredicted(1.4), mispredicted(1.28)),
    # 100 GB/s are 1.30 and 1.22 times what the memory moves.
    "above-roofline": (memory(4800), memory(5120)),
    "one-start": (
        replace(campaign([trial("baseline"), trial("spec")]), tier="imported"),
        campaign([trial("baseline"), trial("spec")]),
    ),
    "device-unidentified": (called("AMD Device 7551"), called("AMD Radeon RX 9070 XT")),
    "speed-unchecked": (unsized(None), unsized(7_000_000_000)),
    "cheap-rounds": (round_costs(0.92, 0.92, 0.92), round_costs(0.96, 0.96, 0.96)),
    "unknown-suite": (suite("f" * 64), suite(RELEASED)),
    "busy-machine:stolen": (
        environment("after", steal_fraction=0.055),
        environment("after", steal_fraction=0.045),
    ),
    "busy-machine:before": (environment(load_1min=8.5), environment(load_1min=7.5)),
    # 16 cores, eight threads of its own: ten others, and seven.
    "busy-machine:later": (
        environment("after", load_1min=18.0),
        environment("after", load_1min=15.0),
    ),
    "on-battery": (environment("after", on_battery=True), environment("before", on_battery=False)),
    "low-power": (
        replace(CLEAN, machine=replace(CLEAN.machine, power_mode="low")),
        replace(CLEAN, machine=replace(CLEAN.machine, power_mode="balanced")),
    ),
    "clock-drop:readings": (
        gpu_clocks(2600.0, 2500.0, 2230.0, 2100.0),
        gpu_clocks(2600.0, 2500.0, 2280.0, 2100.0),
    ),
    "clock-drop:throttled": (
        environment("during", gpu_throttled=True),
        environment("during", gpu_throttled=False),
    ),
    "gpu-use-not-shown": (environment("after"), environment("after", gpu_clock_mhz=510.0)),
    "same-answers": (answering_alike(12), answering_alike(11)),
    # 3.5 GB in 72 and 68 ms are 48.6 and 51.5 GB/s; 5 % of 1008 are 50.4.
    "below-bandwidth": (on_4090(3.6), on_4090(3.4)),
    "power-limited": (gpu(90.0), gpu(115.0)),
}
