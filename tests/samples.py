"""Which submissions do the tests look at? Small made-up ones, consistent by construction.

`sample()` builds a valid submission from a handful of costs; every counter follows from them.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from estimates.flags.figures import suites
from estimates.running_order import running_order
from schemas.codec import canonical_bytes, encode
from schemas.submission import (
    Arm,
    Cpu,
    Design,
    Device,
    DeviceMemory,
    DraftingProbe,
    DraftModel,
    Engine,
    Gpu,
    Machine,
    Model,
    NoSpeculation,
    OperatingSystem,
    Placement,
    Probes,
    Prompt,
    PromptLookup,
    Settings,
    Snapshot,
    Submission,
    Suite,
    Tool,
    Trial,
    VerificationProbe,
    Warmup,
)

TASKS = ("code", "math", "reasoning", "summarization", "chat", "json", "creative", "translation")
OUTPUT_TOKENS = 41
DEPTH = 4


# Eighths of a byte per weight, where a label is far from four bits.
_BYTES = {"Q8_0": 8, "F16": 16, "BF16": 16, "F32": 32}


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """A made-up rig: a plain step, one more verified token, one drafted token, and the noise."""

    step_ms: float = 20.0
    extra_width_ms: float = 2.0
    draft_token_ms: float = 2.0
    noise: float = 0.01


DRAFT = Model(
    id="tiny-q8-0",
    name="Tiny-500M",
    family="Sample",
    quantisation="Q8_0",
    parameters=500_000_000,
    architecture="llama",
    file_bytes=531_000_000,
    sha256="d1" * 32,
    layers=24,
    vocabulary_size=32_000,
    tokenizer_sha256="a0" * 32,
)


SETTINGS = Settings(
    max_output_tokens=OUTPUT_TOKENS,
    context_tokens=2048,
    kv_type_k="f16",
    kv_type_v="f16",
    flash_attention="auto",
    batch_tokens=512,
    micro_batch_tokens=512,
    threads=8,
    threads_batch=8,
)


def sample(  # noqa: PLR0913 - a builder: each argument is one thing a test may want to vary
    *,
    seed: int = 0,
    gpu: str | None = "NVIDIA GeForce RTX 4060",
    vram_mib: int = 8188,
    backend: str = "cuda",
    parameters: int = 7_000_000_000,
    quantisation: str = "Q4_K_M",
    tasks: tuple[str, ...] = TASKS,
    prompts_per_task: int = 3,
    blocks: int = 2,
    costs: Costs | None = None,
    contributor: str = "ada",
    day: str = "2026-11-21",
) -> Submission:
    """A valid submission with a baseline, a prompt-lookup arm and a draft-model arm."""
    costs = costs or Costs()
    prompts = tuple(_prompts(tasks, prompts_per_task))
    arms = _arms()
    return Submission(
        tier="measured",
        profile="default",
        measured_from=f"{day}T09:00:00Z",
        measured_until=f"{day}T10:00:00Z",
        contributor=contributor,
        tool=Tool(name="draftmap", version="0.1.0"),
        machine=_machine(gpu, vram_mib),
        engine=_engine(backend, gpu, vram_mib),
        target=_target(parameters, quantisation),
        drafts=(DRAFT,),
        settings=SETTINGS,
        design=Design(
            blocks=blocks,
            order="latin-square",
            planned_trials=len(prompts) * blocks * len(arms),
            ended="completed",
            seed=seed,
            resumed=0,
        ),
        suite=Suite(id="core", version="1.0.0", sha256=suites()["core"]["1.0.0"], prompts=prompts),
        arms=arms,
        trials=_in_order(_trials(random.Random(seed), costs, prompts, arms, blocks), seed),  # noqa: S311 - made-up data
        warmups=tuple(Warmup(arm=arm.id, output_tokens=32, decode_ms=700.0) for arm in arms),
        environment=(Snapshot(moment="before", load_1min=0.5, available_ram_mib=24_000),),
        probes=_probes(costs),
    )


def _arms() -> tuple[Arm, ...]:
    return (
        Arm(
            id="baseline",
            role="baseline",
            method=NoSpeculation(),
            load_s=0.5,
            placement=Placement(target_gpu_layers_requested=-1),
        ),
        Arm(
            id="prompt-lookup-n4",
            role="speculation",
            method=PromptLookup(n_max=DEPTH, ngram_min=2, ngram_max=4),
            baseline="baseline",
            load_s=0.0,
            placement=Placement(target_gpu_layers_requested=-1),
        ),
        Arm(
            id="draft-model-n4",
            role="speculation",
            method=DraftModel(draft=DRAFT.id, n_max=DEPTH),
            baseline="baseline",
            load_s=1.5,
            placement=Placement(target_gpu_layers_requested=-1, draft_gpu_layers_requested=-1),
            peak_memory=(DeviceMemory(device="CPU", peak_mib=700),),
        ),
    )


def _target(parameters: int, quantisation: str) -> Model:
    size = f"{parameters / 1e9:g}B"
    return Model(
        id=f"sample-{size.lower()}-{quantisation.lower().replace('_', '-')}",
        name=f"Sample-{size}",
        family="Sample",
        quantisation=quantisation,
        parameters=parameters,
        architecture="llama",
        file_bytes=parameters * _BYTES.get(quantisation, 4) // 8,
        sha256=hashlib.sha256(f"{size} {quantisation}".encode()).hexdigest(),
        layers=32,
        vocabulary_size=32_000,
        tokenizer_sha256="a0" * 32,
    )


def _machine(gpu: str | None, vram_mib: int) -> Machine:
    return Machine(
        os=OperatingSystem(family="linux", version="6.1"),
        cpu=Cpu(
            name="AMD Ryzen 7 7845HS",
            architecture="x86_64",
            logical_cores=16,
            physical_cores=8,
        ),
        ram_mib=32768,
        gpus=(Gpu(name=gpu, vendor="nvidia", vram_mib=vram_mib),) if gpu else (),
    )


def _probes(costs: Costs) -> Probes:
    return Probes(
        verification=VerificationProbe(
            context_tokens=256,
            repeats=9,
            widths=tuple(range(1, DEPTH + 2)),
            step_ms_median=tuple(
                costs.step_ms + costs.extra_width_ms * extra for extra in range(DEPTH + 1)
            ),
        ),
        drafting=(DraftingProbe(draft=DRAFT.id, repeats=16, token_ms_median=costs.draft_token_ms),),
    )


def _prompts(tasks: tuple[str, ...], per_task: int) -> Iterator[Prompt]:
    for task in tasks:
        for number in range(1, per_task + 1):
            yield Prompt(
                id=f"{task}-{number}",
                task=task,  # type: ignore[arg-type]
                tokens=100,
                rendered_sha256="8899aabbccddeeff",
            )


def _engine(backend: str, gpu: str | None, vram_mib: int) -> Engine:
    return Engine(
        runner="llama-cpp-python",
        name="llama.cpp",
        version="0.5.0-dev",
        commit="0c1e57098",
        package_version="0.3.36",
        backend=backend,  # type: ignore[arg-type]
        devices=_devices(gpu, backend, vram_mib),
        system_info="CPU : AVX2 = 1",
    )


def _devices(gpu: str | None, backend: str, vram_mib: int) -> tuple[Device, ...]:
    """The devices that the engine lists: the CPU, and the GPU where its backend has one."""
    cpu = Device(name="CPU", kind="cpu", memory_total_mib=32768)
    if gpu is None or backend == "cpu":
        return (cpu,)
    name = {"cuda": "CUDA0", "vulkan": "Vulkan0", "metal": "Metal"}.get(backend, "GPU0")
    return (Device(name=name, kind="gpu", memory_total_mib=vram_mib), cpu)


def sample_bytes(submission: Submission) -> bytes:
    """The canonical bytes of a submission."""
    return canonical_bytes(encode(submission))


def _trials(
    rng: random.Random,
    costs: Costs,
    prompts: tuple[Prompt, ...],
    arms: tuple[Arm, ...],
    blocks: int,
) -> tuple[Trial, ...]:
    trials: list[Trial] = []
    for block in range(blocks):
        for number, prompt in enumerate(prompts):
            for arm in arms:
                trial = _trial(rng, costs, arm, number)
                if arm.role == "baseline" and block == 0:  # the others are compared with this one
                    trial = replace(trial, compared_tokens=None)
                trials.append(replace(trial, prompt=prompt.id, block=block, order=len(trials)))
    return tuple(trials)


def _in_order(trials: tuple[Trial, ...], seed: int) -> tuple[Trial, ...]:
    """The same trials in the order in which the harness would have run them."""
    by_place = {(each.block, each.prompt, each.arm): each for each in trials}
    planned = running_order(
        list(dict.fromkeys(each.arm for each in trials)),
        list(dict.fromkeys(each.prompt for each in trials)),
        blocks=1 + max(each.block for each in trials),
        seed=seed,
        interleaved="prompt",
    )
    return tuple(replace(by_place[place], order=order) for order, place in enumerate(planned))


def _trial(rng: random.Random, costs: Costs, arm: Arm, number: int) -> Trial:
    """One generation; task-dependent acceptance: prompt `number` decides how much is accepted."""
    depth = {"none": 0, "prompt-lookup": DEPTH if number % 3 == 0 else 0, "draft-model": DEPTH}[
        arm.method.type
    ]
    accepted_each = min(depth, 1 + number % 4) if depth else 0
    rounds, rest = divmod(OUTPUT_TOKENS - 1, accepted_each + 1)
    accepted_by_round = [accepted_each] * rounds + ([rest - 1] if rest else [])
    drafting_ms = depth * costs.draft_token_ms if arm.method.type == "draft-model" else 0.0
    verify_ms = costs.step_ms + costs.extra_width_ms * depth
    factor = 1 + rng.uniform(-costs.noise, costs.noise)
    count = len(accepted_by_round)
    decode_ms = (verify_ms + drafting_ms) * factor * count
    return Trial(
        arm=arm.id,
        prompt="",
        block=0,
        order=0,
        outcome="ok",
        prompt_ms=50.0,
        output_tokens=OUTPUT_TOKENS,
        decode_ms=decode_ms,
        draft_ms=drafting_ms * factor * count,
        verify_ms=verify_ms * factor * count,
        wall_ms=decode_ms + 60.0,
        rounds=count,
        full_rounds=accepted_by_round.count(depth) if depth else 0,
        drafted=depth * count,
        accepted=sum(accepted_by_round),
        accepted_histogram=_histogram(accepted_by_round),
        drafted_histogram=_histogram([depth] * count),
        round_ms_median=((verify_ms + drafting_ms) * factor,),
        round_cpu_ms_median=((verify_ms + drafting_ms) * factor * 2,),
        finish="length",
        output_sha256="0011223344556677",
        compared_tokens=OUTPUT_TOKENS,
    )


def _histogram(lengths: list[int]) -> tuple[int, ...]:
    return tuple(lengths.count(length) for length in range(max(lengths) + 1))
