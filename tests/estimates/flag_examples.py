"""Which input raises each flag, and which one comes close without raising it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from estimates.flags.figures import suites
from schemas.submission import EmptyDraft, Gpu, Probes, VerificationProbe
from tests.estimates.campaigns import (
    BASELINE,
    CONTROL,
    SPEC,
    blocks_of,
    campaign,
    failed,
    table,
    trial,
    without_prompts,
    without_trials,
)
from tests.estimates.flag_machines import CLEAN, energy, environment, gpu, gpu_clocks, memory, peak
from tests.samples import Costs, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schemas.submission import Submission, Trial


RELEASED = suites()["core"]["1.0.0"]
PROMPTS = tuple(f"code-{number}" for number in range(1, 9))


def _design(**fields: object) -> Submission:
    return replace(CLEAN, design=replace(CLEAN.design, **fields))  # type: ignore[arg-type]


def _named(gpu: str) -> Submission:
    return replace(CLEAN, machine=replace(CLEAN.machine, gpus=(Gpu(name=gpu),)))


def _times(baseline: tuple[float, ...], spec: tuple[float, ...]) -> Submission:
    """One prompt; entry b is the decode time in block b."""
    return campaign(
        trial(arm, block=block, decode_ms=ms)
        for block, both in enumerate(zip(baseline, spec, strict=True))
        for arm, ms in zip(("baseline", "spec"), both, strict=True)
    )


def by_position(factor: Callable[[int, int, int], float], blocks: int = 3) -> Submission:
    """Eight prompts, 100 and 50 ms, times a factor of (order, block, number of the prompt).

    The last decimals differ from trial to trial, as they do on a real clock.
    """
    rows = dict.fromkeys(PROMPTS, (100.0, 50.0))
    trials = [
        replace(
            each,
            decode_ms=(each.decode_ms or 0.0)
            * factor(order, each.block, PROMPTS.index(each.prompt))
            * (1 + 0.001 * (order * 7 % 5)),
            rounds=10 if each.arm == "baseline" else 4,
            drafted_histogram=(10,) if each.arm == "baseline" else (0, 0, 4),
        )
        for order, each in enumerate(table(rows, blocks))
    ]
    return campaign(trials, prompts=PROMPTS)


def control(ratio: float, method: object = None) -> Submission:
    """Three prompts on which the control is so many times as fast, give or take half a percent."""
    arm = CONTROL if method is None else replace(CONTROL, method=method)  # type: ignore[arg-type]
    trials = [
        each
        for number, wobble in enumerate((0.995, 1.0, 1.005), start=1)
        for each in (
            trial("baseline", f"code-{number}", decode_ms=100.0),
            trial("control", f"code-{number}", decode_ms=100.0 / ratio * wobble),
        )
    ]
    return campaign(trials, prompts=PROMPTS[:3], arms=(BASELINE, arm))


def _processor_time(arm_cpu_ms: float, backend: str = "cpu") -> Submission:
    """By wall time the arm takes 5 ms per token against 10; its processor time is given."""
    shared = {"drafted_histogram": (10,)}
    return campaign(
        [
            trial("baseline", **shared, round_ms_median=(10.0,), round_cpu_ms_median=(20.0,)),
            trial(
                "spec",
                **shared,
                decode_ms=50.0,
                round_ms_median=(5.0,),
                round_cpu_ms_median=(arm_cpu_ms,),
            ),
        ],
        engine=replace(CLEAN.engine, backend=backend),
    )


def _single_step(ms: float) -> Submission:
    """A baseline of 10 ms per token beside a probed single step."""
    curve = VerificationProbe(context_tokens=9, repeats=9, widths=(1,), step_ms_median=(ms,))
    return campaign([trial("baseline"), trial("spec")], probes=Probes(verification=curve))


def _mispredicted(factor: float) -> Submission:
    """A clean campaign whose arms measured so many times slower than the probes say."""
    clean = sample(costs=Costs(noise=0.001))
    return replace(clean, trials=tuple(_slower(each, factor) for each in clean.trials))


def _slower(each: Trial, factor: float) -> Trial:
    if each.arm != "draft-model-n4" or each.round_ms_median is None:
        return each
    medians = tuple(ms * factor for ms in each.round_ms_median)
    return replace(each, round_ms_median=medians, decode_ms=(each.decode_ms or 0.0) * factor)


def _costly(factor: float) -> Submission:
    """The arm's rounds take so many times as long on the fourth prompt."""
    clean = by_position(lambda _order, _block, _prompt: 1.0)
    trials = tuple(
        replace(each, decode_ms=(each.decode_ms or 0.0) * factor)
        if (each.arm, each.prompt) == ("spec", PROMPTS[3])
        else each
        for each in clean.trials
    )
    return replace(clean, trials=trials)


def _stalling(ms: float) -> Submission:
    """Four prompts; by the median rounds 10 ms against about 5, and one answer took `ms`."""
    prompts = tuple(f"code-{number}" for number in range(1, 5))
    trials = [
        each
        for number, prompt in enumerate(prompts)
        for each in (
            trial("baseline", prompt, drafted_histogram=(10,), round_ms_median=(10.0,)),
            trial(
                "spec",
                prompt,
                drafted_histogram=(10,),
                round_ms_median=(5.0 + number / 10,),
                decode_ms=ms if number == 0 else 50.0 + number,
            ),
        )
    ]
    return campaign(trials, prompts=prompts)


def _diverged(margin: float) -> Submission:
    forked = trial(compared_tokens=11, first_divergence=3, divergence_margin=margin)
    return campaign([trial("baseline"), forked])


def _crowd(submission: Submission) -> Submission:
    """The same with four requests at once."""
    return replace(submission, arms=tuple(replace(arm, concurrency=4) for arm in submission.arms))


def _counted(*, by_page: int) -> Submission:
    """An answer that speaks of 8 drafted tokens, and what the metrics page counted meanwhile."""
    told = trial("spec", drafted=8, metrics_drafted=by_page, metrics_accepted=None)
    return campaign([trial("baseline"), told])


def _outputs(second: str) -> Submission:
    return campaign(
        [
            trial("baseline", block=0, output_sha256="00112233aabbccdd"),
            trial("baseline", block=1, output_sha256=second),
        ]
    )


def _yielding(rounds: int) -> Submission:
    """A speedup of 5 (100 and 20 ms for 10 tokens), in so many rounds."""
    return campaign([trial("baseline"), trial("spec", decode_ms=20.0, rounds=rounds)])


def times(values: Sequence[float]) -> Submission:
    """One baseline trial per time."""
    prompts = [f"code-{number}" for number, _ in enumerate(values)]
    trials = [
        trial("baseline", name, decode_ms=ms) for name, ms in zip(prompts, values, strict=True)
    ]
    return campaign(trials, prompts=tuple(prompts))


def _suite(digest: str) -> Submission:
    return replace(CLEAN, suite=replace(CLEAN.suite, sha256=digest))


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
    "unpaired-trials": campaign([trial("baseline"), trial("spec"), trial("spec", block=1)]),
    "interrupted": _design(ended="interrupted"),
    "budget-spent": _design(ended="budget-spent"),
    "resumed": _design(resumed=1),
    "quick": replace(CLEAN, profile="quick"),
    "single-block": sample(blocks=1),
    "not-interleaved": _design(order="sequential"),
    "order-not-planned": without_prompts(CLEAN, 2),
    "private-data": replace(CLEAN, notes="Questions to ada@example.org"),
    "confusable-letters": _named("RTX 4\u041e90"),
    "never-drafted": campaign([trial("baseline"), trial("spec", drafted=0)]),
    "counters-disagree": _counted(by_page=9),
    "diverged": _diverged(2.0),
    "baseline-not-reproducible": _outputs("ffffffffffffffff"),
    "crowd-outputs-vary": _crowd(_diverged(5.0)),
    "teacher-forced": replace(CLEAN, settings=replace(CLEAN.settings, teacher_forced=True)),
    # 100 and 120 ms: mean 110, standard deviation 14.1, CV 12.9 %.
    "block-spread": _times((100.0, 120.0), (50.0, 51.0)),
    # One of 16 arms and prompts takes 1, 3 and 1 times as long: mean 1.67, 80 % away.
    "block-outlier": by_position(lambda order, _block, _prompt: 3.0 if order == 20 else 1.0),
    "zero-spread": _times((100.0, 100.0), (50.0, 51.0)),
    # The second block takes 3 % longer throughout, with 0.01 % of noise.
    "repeated-block": blocks_of(PROMPTS, 1.0, 1.03, noise=0.0001),
    # Three of twelve prompts take 7 to 10 times as long, once.
    "uneven-baseline": times([100.1, 1000.2, 99.3, 700.4, 101.5, 98.6, 680.7, 100.8, 99.9, 101.0]),
    # 100 ms in all, but ten rounds with a median of 4 ms: a factor of 2.5.
    "stalls": _stalling(500.0),
    "clocks-disagree": campaign(
        [trial("baseline", drafted_histogram=(10,), round_ms_median=(4.0,)), trial("spec")]
    ),
    "drift": by_position(lambda order, _block, _prompt: 1 + 0.3 * order / 47),
    "first-block": by_position(lambda _order, block, _prompt: 1.2 if block == 0 else 1.0),
    "cold-start": by_position(lambda order, _block, _prompt: 2.0 if order == 1 else 1.0),
    "control-excludes-one": control(1.05),
    "loop-overhead": control(0.9, EmptyDraft()),
    "processor-time-disagrees": _processor_time(16.0),
    "round-cost-spread": _costly(2.0),
    "probe-disagrees": _single_step(7.0),
    "prediction-missed": _mispredicted(3.0),
    # 3200 MT/s over two channels are 51 GB/s: 1 GB takes 19.5 ms at least.
    "above-roofline": memory(3200),
    # Ten tokens in five rounds are 2 a round, not 5.
    "above-bound": _yielding(5),
    # 30 J in 0.1 s are 300 W.
    "above-power-limit": energy(30.0),
    "above-memory": peak(8200),
    "rounded-times": times([2000.0 + 10 * number for number in range(12)]),
    # Thousandths that always end in 5.
    "uneven-digits": times([round(100.005 + number * 0.13, 3) for number in range(100)]),
    "unknown-suite": _suite("f" * 64),
    "stolen-time": environment("after", steal_fraction=0.4),
    "busy-machine": environment(load_1min=9.0),
    # 16 cores, eight threads of its own: ten others.
    "load-appeared": environment("after", load_1min=18.0),
    "on-battery": environment("after", on_battery=True),
    # The least of the first half is 2500, the most of the second 2200: 12 % below.
    "clock-drop": gpu_clocks(2600.0, 2500.0, 2200.0, 2100.0),
    "gpu-throttled": environment("during", gpu_throttled=True),
    "gpu-hot": environment("during", gpu_temperature_c=86.0),
    "power-limited": gpu(90.0),
}

QUIET: dict[str, Submission] = {
    "failed-arm": CLEAN,
    "failed-trials": CLEAN,
    # Seven of eight.
    "missing-prompts": without_trials(
        by_position(lambda _order, _block, _prompt: 1.0), "spec", PROMPTS[7:]
    ),
    "unpaired-trials": campaign([trial("baseline"), trial("spec"), trial("baseline", block=1)]),
    "interrupted": CLEAN,
    "budget-spent": _design(ended="precise-enough"),
    "resumed": _design(resumed=0),
    "quick": replace(CLEAN, profile="custom"),
    "single-block": CLEAN,
    "not-interleaved": _design(order="abba"),
    "order-not-planned": CLEAN,
    "private-data": replace(CLEAN, notes="Fans @ 60 %, driver 31.0.15.4601"),
    "confusable-letters": _named(
        "\u042d\u043b\u044c\u0431\u0440\u0443\u0441-8\u0421, \u6469\u5c14\u7ebf\u7a0b"
    ),
    "never-drafted": campaign([trial("baseline"), trial("spec", drafted=1)]),
    "counters-disagree": _counted(by_page=8),
    "diverged": _diverged(0.01),
    "baseline-not-reproducible": _outputs("00112233aabbccdd"),
    "crowd-outputs-vary": _diverged(5.0),
    "teacher-forced": replace(CLEAN, settings=replace(CLEAN.settings, teacher_forced=False)),
    # 100 and 115 ms: mean 107.5, standard deviation 10.6, CV 9.9 %.
    "block-spread": _times((100.0, 115.0), (50.0, 51.0)),
    # 1, 1.9 and 1 times as long: mean 1.3, 46 % away.
    "block-outlier": by_position(lambda order, _block, _prompt: 1.9 if order == 20 else 1.0),
    "zero-spread": _times((100.0, 100.1), (50.0, 51.0)),
    "repeated-block": blocks_of(PROMPTS, 1.0, 1.03, noise=0.002),
    # A single prompt that takes 1.7 times as long may be noise where nothing was repeated.
    "uneven-baseline": times([100.1, 170.2, 99.3, 101.5, 98.6, 100.8, 99.9, 101.0]),
    # 100 ms in all and ten rounds of 7 ms: a factor of 1.43.
    "stalls": _stalling(51.0),
    "clocks-disagree": campaign(
        [trial("baseline", drafted_histogram=(10,), round_ms_median=(7.0,)), trial("spec")]
    ),
    "drift": by_position(lambda _order, _block, _prompt: 1.0),
    "first-block": by_position(lambda _order, block, _prompt: 1.04 if block == 0 else 1.0),
    "cold-start": by_position(lambda order, _block, _prompt: 1.2 if order == 1 else 1.0),
    "control-excludes-one": control(1.005),
    "loop-overhead": control(0.98, EmptyDraft()),
    "processor-time-disagrees": _processor_time(10.5),
    "round-cost-spread": _costly(1.1),
    "probe-disagrees": _single_step(9.0),
    "prediction-missed": _mispredicted(1.1),
    # 5600 MT/s over two channels are 90 GB/s: 11.2 ms, within the allowance of 25 %.
    "above-roofline": memory(5600),
    "above-bound": _yielding(2),
    # 14 J in 0.1 s are 140 W: a limit is an average.
    "above-power-limit": energy(14.0),
    "above-memory": peak(8100),
    "rounded-times": times([*(2000.0 + 10 * number for number in range(11)), 2001.0]),
    "uneven-digits": times([round(100 + number * 0.137, 3) for number in range(100)]),
    "unknown-suite": _suite(RELEASED),
    "stolen-time": environment("after", steal_fraction=0.04),
    "busy-machine": environment("after", load_1min=16.0),
    # Seven others on 16 cores.
    "load-appeared": environment("after", load_1min=15.0),
    "on-battery": environment("before", on_battery=False),
    # A single slow reading is no trend, and what the clock does before the campaign is idling.
    "clock-drop": gpu_clocks(2600.0, 1800.0, 2500.0, 2600.0),
    "gpu-throttled": environment("during", gpu_throttled=False),
    "gpu-hot": environment("during", gpu_temperature_c=80.0),
    "power-limited": gpu(115.0),
}
