"""Small invented submissions, consistent by construction.

`sample()` builds a valid submission from a few costs; every counter follows from them.
"""

import hashlib
import random
from collections.abc import Iterator
from functools import cache

from estimates.flags.plan import suites
from schemas.codec import canonical_bytes, encode
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
    Placement,
    Probes,
    Prompt,
    Settings,
    Snapshot,
    Submission,
    Suite,
    Tool,
    VerificationProbe,
    Warmup,
)
from tests.sample_trials import DEPTH, OUTPUT_TOKENS, SampleCosts, in_order, trials_of

TASKS = ("code", "math", "reasoning", "summarization", "chat", "json", "creative", "translation")


# Eighths of a byte per weight, where a label is far from four bits.
_BYTES = {"Q8_0": 8, "F16": 16, "BF16": 16, "F32": 32}


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


@cache  # asked for hundreds of times while tests are collected, in every process
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
    costs: SampleCosts | None = None,
    contributor: str = "ada",
    day: str = "2026-11-21",
) -> Submission:
    """A valid submission with a baseline, a prompt-lookup arm and a draft-model arm."""
    costs = costs or SampleCosts()
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
        design=_design(blocks, len(prompts) * blocks * len(arms), seed),
        suite=Suite(id="core", version="1.0.0", sha256=suites()["core"]["1.0.0"], prompts=prompts),
        arms=arms,
        trials=in_order(trials_of(random.Random(seed), costs, prompts, arms, blocks), seed),  # noqa: S311 - simulated data
        warmups=tuple(Warmup(arm=arm.id, output_tokens=32, decode_ms=700.0) for arm in arms),
        environment=(Snapshot(moment="before", load_1min=0.5, available_ram_mib=24_000),),
        probes=_probes(costs),
    )


def _design(blocks: int, trials: int, seed: int) -> Design:
    return Design(
        blocks=blocks,
        order="latin-square",
        planned_trials=trials,
        ended="completed",
        seed=seed,
        resumed=0,
    )


def _arms() -> tuple[Arm, ...]:
    return (
        Arm(
            id="baseline",
            role="baseline",
            method=NO_SPECULATION,
            load_s=0.5,
            placement=Placement(target_gpu_layers_requested=-1),
        ),
        Arm(
            id="prompt-lookup-n4",
            role="speculation",
            method=Method(type="prompt-lookup", n_max=DEPTH, ngram_min=2, ngram_max=4),
            baseline="baseline",
            load_s=0.0,
            placement=Placement(target_gpu_layers_requested=-1),
        ),
        Arm(
            id="draft-model-n4",
            role="speculation",
            method=Method(type="draft-model", draft=DRAFT.id, n_max=DEPTH),
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


def _probes(costs: SampleCosts) -> Probes:
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
                rendered_sha256=hashlib.sha256(f"{task}-{number}".encode()).hexdigest()[:16],
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
