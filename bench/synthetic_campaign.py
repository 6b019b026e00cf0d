"""Turn a synthetic campaign into a submission, with the types of the real format.

Noise is added to the true costs: a factor per trial, a drift per block, and a little noise per
round. Some arms and trials fail as real ones do, and then have no figure.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from bench.synthetic_rigs import BYTES_PER_MIB, SyntheticRig, Visit, models
from bench.synthetic_truth import (
    OUTPUT_TOKENS,
    PLAIN,
    ModelSpec,
    SyntheticDrafter,
    all_prompts,
    rounds,
)
from schemas.method import NO_SPECULATION, Method
from schemas.submission import (
    Arm,
    Cpu,
    Design,
    Device,
    DeviceMemory,
    DraftingProbe,
    Engine,
    Gpu,
    Machine,
    Model,
    OperatingSystem,
    Probes,
    Prompt,
    Reason,
    Settings,
    Submission,
    Suite,
    Trial,
    VerificationProbe,
)
from tests.samples import sample

BLOCKS = 2
TRIAL_NOISE, ROUND_NOISE, BLOCK_DRIFT = 0.012, 0.004, 0.01
FAILING_TRIALS, NEAR_TIES, MISMATCHES = 0.003, 0.04, 0.08
PROMPT_TOKENS, PROMPT_MS = 220, 60.0
CONTEXT_TOKENS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTruth:
    """An arm with its drafter; `reason` is why the arm cannot run."""

    id: str
    drafter: SyntheticDrafter
    reason: Reason | None = None


def arms_of(visit: Visit) -> tuple[ArmTruth, ...]:
    """The arms of a campaign: n-grams, draft models at two depths, and the target's head if any."""
    rng = random.Random(visit.seed)  # noqa: S311 - synthetic data
    target = visit.target
    drafts = _drafts(target)
    found = [
        ArmTruth(id="prompt-lookup-n4", drafter=SyntheticDrafter(kind="prompt-lookup", depth=4))
    ]
    if rng.random() < 0.25:
        found.append(
            ArmTruth(id="ngram-simple-n8", drafter=SyntheticDrafter(kind="ngram-simple", depth=8))
        )
    if drafts:
        for draft, depth in ((drafts[0], 2), (drafts[0], rng.choice((4, 6))), (drafts[-1], 4)):
            found.append(_draft_arm(visit.rig, target, draft, depth))
    if target.has_head:
        found.append(ArmTruth(id="mtp-n2", drafter=SyntheticDrafter(kind="mtp", depth=2)))
    if rng.random() < MISMATCHES:
        stranger = next(each for each in models() if each.family != target.family)
        drafter = SyntheticDrafter(kind="draft-model", depth=4, draft=stranger)
        found.append(ArmTruth(id="stranger-n4", drafter=drafter, reason="vocabulary-mismatch"))
    return tuple({each.drafter: each for each in found}.values())


def submission_of(visit: Visit) -> Submission:
    """Simulate a campaign. The same visit gives the same submission."""
    rng = random.Random(visit.seed + 1)  # noqa: S311 - synthetic data
    arms = arms_of(visit)
    trials = tuple(_trials(rng, visit, arms))
    spent = timedelta(milliseconds=sum(trial.wall_ms or 0.0 for trial in trials))
    prompts = tuple(
        Prompt(id=prompt, task=task, tokens=PROMPT_TOKENS)  # type: ignore[arg-type]
        for task, prompt in all_prompts()
    )
    drafts = {arm.drafter.draft for arm in arms if arm.drafter.draft}
    return replace(
        sample(tasks=("code",), prompts_per_task=1, blocks=1),
        measured_from=f"{visit.began:%Y-%m-%dT%H:%M:%SZ}",
        measured_until=f"{visit.began + spent + timedelta(minutes=5):%Y-%m-%dT%H:%M:%SZ}",
        contributor=visit.contributor,
        notes=f"SYNTHETIC, not a measurement: python -m bench.synthetic, {visit.rig.key}",
        machine=_machine(visit.rig),
        engine=_engine(visit.rig),
        target=_model(visit.target),
        drafts=tuple(sorted(map(_model, drafts), key=lambda model: model.id)),
        settings=Settings(max_output_tokens=OUTPUT_TOKENS, context_tokens=CONTEXT_TOKENS),
        design=Design(
            blocks=BLOCKS,
            order="latin-square",
            planned_trials=len(trials),
            ended="completed",
            seed=visit.seed,
        ),
        suite=Suite(id="core", version="1.0.0", prompts=prompts),
        arms=(Arm(id="baseline", role="baseline", method=NO_SPECULATION), *map(_arm, arms)),
        trials=trials,
        warmups=None,
        probes=_probes(rng, visit, arms),
    )


def _draft_arm(rig: SyntheticRig, target: ModelSpec, draft: ModelSpec, depth: int) -> ArmTruth:
    fits = target.file_bytes + draft.file_bytes < rig.room_bytes
    return ArmTruth(
        id=f"{draft.id}-n{depth}",
        drafter=SyntheticDrafter(kind="draft-model", depth=depth, draft=draft),
        reason=None if fits else "out-of-memory",
    )


def _drafts(target: ModelSpec) -> tuple[ModelSpec, ...]:
    """The two smallest models of the target's family with less than half of its parameters."""
    family = [
        each
        for each in models()
        if each.family == target.family and each.quantisation == "Q8_0"
        if each.parameters * 2 < target.parameters
    ]
    return tuple(family[:2])


def _arm(arm: ArmTruth) -> Arm:
    memory = arm.drafter.draft.file_bytes // BYTES_PER_MIB if arm.drafter.draft else 0
    return Arm(
        id=arm.id,
        role="speculation",
        method=_method(arm.drafter),
        baseline="baseline",
        outcome="failed" if arm.reason else "ok",
        reason=arm.reason,
        peak_memory=(DeviceMemory(device="GPU0", peak_mib=memory),) if memory else None,
    )


def _method(drafter: SyntheticDrafter) -> Method:
    match drafter.kind:
        case "draft-model" if drafter.draft:
            return Method(type="draft-model", draft=drafter.draft.id, n_max=drafter.depth)
        case "mtp":
            return Method(type="mtp", n_max=drafter.depth)
        case "ngram-simple":
            return Method(type="ngram-simple", n_max=drafter.depth, ngram_size=3)
        case _:
            return Method(type="prompt-lookup", n_max=drafter.depth, ngram_min=2, ngram_max=4)


def _trials(rng: random.Random, visit: Visit, arms: tuple[ArmTruth, ...]) -> Iterator[Trial]:
    running = (ArmTruth(id="baseline", drafter=PLAIN), *(arm for arm in arms if not arm.reason))
    order = 0
    for block in range(BLOCKS):
        drift = rng.lognormvariate(0, BLOCK_DRIFT)
        for task, prompt in all_prompts():
            for arm in running:
                factor = drift * rng.lognormvariate(0, TRIAL_NOISE)
                trial = _trial(rng, visit, arm, (task, prompt), factor)
                yield replace(trial, block=block, order=order)
                order += 1


def _trial(
    rng: random.Random, visit: Visit, arm: ArmTruth, at: tuple[str, str], factor: float
) -> Trial:
    empty = Trial(arm=arm.id, prompt=at[1], block=0, order=0, outcome="ok")
    if arm.drafter is not PLAIN and rng.random() < FAILING_TRIALS:
        return replace(empty, outcome="failed", reason="timed-out")
    drafter, costs, target = arm.drafter, visit.rig.costs, visit.target
    played = rounds(drafter, target, *at)
    lengths = Counter(drafted for drafted, _ in played)
    times_ms = {
        length: drafter.round_ms(costs, target, length)
        * factor
        * rng.lognormvariate(0, ROUND_NOISE)
        for length in sorted(lengths)
    }
    decode_ms = sum(times_ms[length] * count for length, count in lengths.items())
    drafted, accepted = (sum(column) for column in zip(*played, strict=True))
    draft_ms = min(drafted * drafter.token_ms(costs, target) * factor, 0.999 * decode_ms)
    near_tie = drafter is not PLAIN and rng.random() < NEAR_TIES
    return replace(
        empty,
        prompt_ms=PROMPT_MS,
        output_tokens=OUTPUT_TOKENS,
        decode_ms=decode_ms,
        draft_ms=draft_ms,
        verify_ms=decode_ms - draft_ms,
        wall_ms=decode_ms + PROMPT_MS + 5.0,
        rounds=len(played),
        full_rounds=sum(1 for length, taken in played if length and taken == length),
        drafted=drafted,
        accepted=accepted,
        accepted_histogram=_histogram(taken for _, taken in played),
        drafted_histogram=_histogram(length for length, _ in played),
        round_ms_median=tuple(times_ms.values()),
        finish="length",
        output_sha256=hashlib.sha256(f"{target.id} {at}".encode()).hexdigest()[:16],
        compared_tokens=None if drafter is PLAIN else OUTPUT_TOKENS,
        first_divergence=rng.randrange(1, OUTPUT_TOKENS) if near_tie else None,
        divergence_margin=round(rng.random() * 0.05, 4) if near_tie else None,
    )


def _histogram(lengths: Iterator[int]) -> tuple[int, ...]:
    counted = Counter(lengths)
    return tuple(counted[length] for length in range(max(counted) + 1))


def _machine(rig: SyntheticRig) -> Machine:
    cores = rig.processor["cores"]
    apple = bool(rig.gpu) and rig.backend == "metal"
    cpu = Cpu(
        name=rig.device_name if apple else rig.processor["name"],
        architecture="aarch64" if apple else "x86_64",
        logical_cores=2 * cores,
        physical_cores=cores,
    )
    gpus = (
        (Gpu(name=rig.gpu["name"], vendor=rig.gpu["vendor"], vram_mib=rig.gpu["vram_mib"]),)
        if rig.gpu
        else ()
    )
    # Machines with the same parts differ in memory, so that they are not taken for one machine.
    return Machine(
        os=OperatingSystem(family="macos" if apple else "linux", version="1"),
        cpu=cpu,
        ram_mib=rig.processor["ram_mib"] + rig.machine,
        gpus=gpus,
    )


def _engine(rig: SyntheticRig) -> Engine:
    return Engine(
        runner="openai",
        name="llama.cpp",
        version=f"b{rig.build_number}",
        build_number=rig.build_number,
        backend=rig.backend,  # type: ignore[arg-type]
        devices=(Device(name="GPU0" if rig.gpu else "CPU", kind="gpu" if rig.gpu else "cpu"),),
    )


def _model(model: ModelSpec) -> Model:
    sparse = model.active_parameters < model.parameters
    return Model(
        id=model.id,
        name=model.name,
        family=model.family,
        quantisation=model.quantisation,
        parameters=model.parameters,
        active_parameters=model.active_parameters if sparse else None,
        file_bytes=model.file_bytes,
        layers=32,
        vocabulary_size=100_000,
    )


def _probes(rng: random.Random, visit: Visit, arms: tuple[ArmTruth, ...]) -> Probes:
    costs = visit.rig.costs
    widths = tuple(range(1, max(arm.drafter.depth for arm in arms) + 2))
    drafts = sorted({arm.drafter.draft for arm in arms if arm.drafter.draft}, key=lambda m: m.id)
    return Probes(
        verification=VerificationProbe(
            context_tokens=PROMPT_TOKENS,
            repeats=9,
            widths=widths,
            step_ms_median=tuple(
                costs.step_ms(visit.target, width) * rng.lognormvariate(0, ROUND_NOISE)
                for width in widths
            ),
        ),
        drafting=tuple(
            DraftingProbe(
                draft=draft.id,
                repeats=16,
                token_ms_median=costs.step_ms(draft) * rng.lognormvariate(0, ROUND_NOISE),
            )
            for draft in drafts
        ),
    )
