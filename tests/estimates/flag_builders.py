"""Build submissions with one oddity each, for the examples of flags."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from estimates.flags.plan import suites
from schemas.method import Method
from schemas.submission import Arm, Gpu, Probes, Submission, VerificationProbe
from tests.estimates.campaigns import (
    BASELINE,
    CONTROL,
    SPEC,
    campaign,
    failed,
    table,
    trial,
)
from tests.estimates.flag_machines import CLEAN
from tests.sample_trials import slowed
from tests.samples import SampleCosts, sample

RELEASED = suites()["core"]["1.0.0"]
PROMPTS = tuple(f"code-{number}" for number in range(1, 9))


def design(**fields: object) -> Submission:
    return replace(CLEAN, design=replace(CLEAN.design, **fields))  # type: ignore[arg-type]


def block_times(baseline: tuple[float, ...], spec: tuple[float, ...]) -> Submission:
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
    """Three prompts on which the control is faster by a ratio, with half a percent of noise."""
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


def single_step(ms: float) -> Submission:
    """A baseline of 10 ms per token beside a probed single step."""
    curve = VerificationProbe(context_tokens=9, repeats=9, widths=(1,), step_ms_median=(ms,))
    return campaign([trial("baseline"), trial("spec")], probes=Probes(verification=curve))


def mispredicted(factor: float) -> Submission:
    """A clean campaign whose arms are slower by a factor than the probes predict."""
    clean = sample(costs=SampleCosts(noise=0.001))
    return slowed(clean, lambda each: factor if each.arm == "draft-model-n4" else 1.0)


def costly(factor: float, prompts: Sequence[str] = PROMPTS[3:4]) -> Submission:
    """The arm's rounds take longer by a factor on these prompts."""
    clean = by_position(lambda _order, _block, _prompt: 1.0)
    return slowed(
        clean, lambda each: factor if each.arm == "spec" and each.prompt in prompts else 1.0
    )


def round_costs(
    *costs: float, drafted: float = 0.0, plain_ms: float = 20.0, spec: Arm = SPEC
) -> Submission:
    """Prompts of 101 tokens whose 50 rounds have these costs in plain tokens and drafts."""
    prompts = tuple(f"code-{number}" for number, _ in enumerate(costs))
    trials = [
        trial(arm, prompt, decode_ms=ms, rounds=count, output_tokens=101, drafted=tokens)
        for prompt, cost in zip(prompts, costs, strict=True)
        for arm, ms, count, tokens in (
            ("baseline", 100 * plain_ms, 100, 0),
            ("spec", 50 * cost * plain_ms, 50, round(50 * drafted)),
        )
    ]
    return campaign(trials, prompts=prompts, arms=(BASELINE, spec))


def crashing(count: int, arm: str = "spec", reason: str = "crashed") -> Submission:
    """Eight prompts, on the first of which one arm fails."""
    trials = [
        replace(failed(own, prompt), reason=reason)  # type: ignore[arg-type]  # one of its reasons
        if own == arm and number < count
        else trial(own, prompt)
        for number, prompt in enumerate(PROMPTS)
        for own in ("baseline", "spec")
    ]
    return campaign(trials, prompts=PROMPTS)


def tied(count: int, limit: int = 41) -> Submission:
    """Four prompts, the first of which diverge from the baseline at a near-tie."""
    forked = {"first_divergence": 3, "divergence_margin": 0.01}
    trials = [
        each
        for number, prompt in enumerate(PROMPTS[:4])
        for each in (
            trial("baseline", prompt),
            trial("spec", prompt, compared_tokens=11, **(forked if number < count else {})),
        )
    ]
    bare = campaign(trials, prompts=PROMPTS[:4])
    return replace(bare, settings=replace(bare.settings, max_output_tokens=limit))


def diverged(margin: float) -> Submission:
    forked = trial(compared_tokens=11, first_divergence=3, divergence_margin=margin)
    return campaign([trial("baseline"), forked])


def answering(*, base: int, spec: int) -> Submission:
    """Eight prompts; on some of them an arm's answer does not parse."""
    trials = [
        trial(arm, prompt, answer="invalid-json" if at < broken else "valid")
        for at, prompt in enumerate(PROMPTS)
        for arm, broken in (("baseline", base), ("spec", spec))
    ]
    return campaign(trials, prompts=PROMPTS)


def concurrent(submission: Submission) -> Submission:
    """The same with four requests at once."""
    return replace(submission, arms=tuple(replace(arm, concurrency=4) for arm in submission.arms))


def counted(*, by_page: int) -> Submission:
    """An answer that states 8 drafted tokens, and the count of the metrics page for it."""
    told = trial("spec", drafted=8, metrics_drafted=by_page, metrics_accepted=None)
    return campaign([trial("baseline"), told])


def parted(early: int, late: int) -> Submission:
    """Eight prompts whose text diverges from the baseline's after seven words, eight, or not."""
    words = [7] * early + [8] * late + [None] * (8 - early - late)
    trials = [
        trial(
            arm,
            prompt,
            text_sha256="00112233aabbccdd",
            equal_words=equal if arm == "spec" else None,
        )
        for prompt, equal in zip(PROMPTS, words, strict=True)
        for arm in ("baseline", "spec")
    ]
    return campaign(trials, prompts=PROMPTS)


def started(base: tuple[str, ...], spec: tuple[str, ...]) -> Submission:
    """Two arms whose servers were started with these arguments."""
    arms = (replace(BASELINE, argv=base), replace(SPEC, argv=spec))
    return campaign([trial("baseline"), trial("spec")], arms=arms)


def forced(*, length: float) -> Submission:
    """A control arm that is set to a length and yields two tokens a round."""
    arm = replace(SPEC, role="control", method=Method(type="forced", n_max=4, length=length))
    return campaign([trial("baseline"), trial("spec", rounds=5)], arms=(BASELINE, arm))


def outputs(second: str) -> Submission:
    return campaign(
        [
            trial("baseline", block=0, output_sha256="00112233aabbccdd"),
            trial("baseline", block=1, output_sha256=second),
        ]
    )


def times(values: Sequence[float]) -> Submission:
    """One baseline trial per time."""
    prompts = [f"code-{number}" for number, _ in enumerate(values)]
    trials = [
        trial("baseline", name, decode_ms=ms) for name, ms in zip(prompts, values, strict=True)
    ]
    return campaign(trials, prompts=tuple(prompts))


def on_4090(factor: float) -> Submission:
    """3.5 GB at 20 ms times a factor on a card of 1008 GB/s."""
    card = Gpu(name="NVIDIA GeForce RTX 4090", vendor="nvidia", vram_mib=24564)
    return replace(slowed(CLEAN, lambda _: factor), machine=replace(CLEAN.machine, gpus=(card,)))


def answering_alike(same: int) -> Submission:
    """Some of 24 prompts share an answer; each of the others has its own."""
    alike = {prompt.id for prompt in CLEAN.suite.prompts[:same]}
    trials = [
        replace(each, output_sha256="ab" * 8 if each.prompt in alike else each.prompt[:16])
        for each in CLEAN.trials
    ]
    return replace(CLEAN, trials=tuple(trials))


def suite(digest: str) -> Submission:
    return replace(CLEAN, suite=replace(CLEAN.suite, sha256=digest))


def requested(baseline_ms: float) -> Submission:
    """Both arms take 10 x 100 ms in the stream; the baseline's whole requests take longer."""
    walls = {"baseline": 10 * baseline_ms, "spec": 1000.0}
    return campaign(
        [
            trial(arm, prompt, decode_ms=1000.0, wall_ms=wall_ms + 500, one_token_ms=500.0)
            for prompt in PROMPTS
            for arm, wall_ms in walls.items()
        ],
        prompts=tuple(PROMPTS),
    )
