"""What a submission is in Python: frozen dataclasses that mirror submission.v1.schema.json.

The schema is the definition; a parity test compares the two field by field. Absent is `None`.
Units are in the names; the meaning of each field stands in the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Task = Literal[
    "code", "math", "reasoning", "summarization", "chat", "json", "creative", "translation", "other"
]
Outcome = Literal["ok", "failed"]
Role = Literal["baseline", "speculation", "control", "alternative"]
Reason = Literal[
    "out-of-memory",
    "vocabulary-mismatch",
    "rollback-unsupported",
    "context-too-small",
    "load-failed",
    "crashed",
    "timed-out",
    "bad-answer",
    "interrupted",
    "other",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: str
    version: str
    commit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    format: str
    sha256: str
    source: str | None = None
    licence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingSystem:
    family: Literal["linux", "macos", "windows", "freebsd", "other"]
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    name: str
    architecture: Literal["x86_64", "aarch64", "riscv64", "ppc64le", "other"]
    logical_cores: int
    physical_cores: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    name: str
    vendor: Literal["nvidia", "amd", "intel", "apple", "qualcomm", "other"] | None = None
    vram_mib: int | None = None
    driver: str | None = None
    api: str | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    power_limit_w: float | None = None
    default_power_limit_w: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    os: OperatingSystem
    cpu: Cpu
    ram_mib: int
    gpus: tuple[Gpu, ...] = ()
    ram_type: str | None = None
    ram_mts: int | None = None
    ram_channels: int | None = None
    virtual_machine: bool | None = None
    on_battery: bool | None = None
    desktop_on_gpu: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    name: str
    kind: Literal["cpu", "gpu", "igpu", "accelerator", "other"]
    description: str | None = None
    memory_total_mib: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    runner: Literal["llama-cpp-python", "llama-server", "openai", "fake", "imported"]
    name: str
    version: str
    backend: Literal[
        "cpu", "cuda", "vulkan", "metal", "rocm", "sycl", "opencl", "cann", "musa", "other"
    ]
    package_version: str | None = None
    commit: str | None = None
    build_number: int | None = None
    devices: tuple[Device, ...] | None = None
    system_info: str | None = None
    binary_sha256: str | None = None
    variables: tuple[Variable, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    id: str
    name: str
    quantisation: str
    family: str | None = None
    parameters: int | None = None
    active_parameters: int | None = None
    architecture: str | None = None
    file_bytes: int | None = None
    sha256: str | None = None
    repository: str | None = None
    derivation: str | None = None
    layers: int | None = None
    vocabulary_size: int | None = None
    tokenizer_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    max_output_tokens: int
    sampling: Literal["greedy", "other"] = "greedy"
    context_tokens: int | None = None
    kv_type_k: str | None = None
    kv_type_v: str | None = None
    flash_attention: Literal["auto", "on", "off"] | None = None
    batch_tokens: int | None = None
    micro_batch_tokens: int | None = None
    threads: int | None = None
    threads_batch: int | None = None
    thinking: bool | None = None
    chat_template_sha256: str | None = None
    energy_method: Literal["nvml", "rapl"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    blocks: int
    order: Literal["sequential", "abba", "latin-square", "unknown"]
    planned_trials: int
    ended: Literal["completed", "precise-enough", "budget-spent", "interrupted"]
    seed: int | None = None
    resumed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    id: str
    task: Task
    tokens: int | None = None
    rendered_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    id: str
    version: str
    prompts: tuple[Prompt, ...]
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSpeculation:
    type: Literal["none"] = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModel:
    draft: str
    n_max: int
    n_min: int | None = None
    p_min: float | None = None
    adaptive: bool | None = None
    type: Literal["draft-model"] = "draft-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLookup:
    n_max: int
    ngram_min: int
    ngram_max: int
    type: Literal["prompt-lookup"] = "prompt-lookup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ngram:
    type: Literal[
        "ngram-simple", "ngram-map-k", "ngram-map-k4v", "ngram-mod", "ngram-cache", "suffix"
    ]
    n_max: int | None = None
    n_min: int | None = None
    ngram_size: int | None = None
    min_hits: int | None = None
    adaptive: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftHead:
    type: Literal["mtp", "eagle3", "dflash", "dspark"]
    draft: str | None = None
    n_max: int | None = None
    n_min: int | None = None
    p_min: float | None = None
    adaptive: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    n_max: int
    acceptance: float
    type: Literal["oracle"] = "oracle"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyDraft:
    type: Literal["empty-draft"] = "empty-draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMethod:
    name: str
    n_max: int | None = None
    type: Literal["other"] = "other"


Method = (
    NoSpeculation
    | DraftModel
    | PromptLookup
    | Ngram
    | DraftHead
    | Oracle
    | EmptyDraft
    | OtherMethod
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    target_gpu_layers_requested: int | None = None
    target_gpu_layers_resident: int | None = None
    draft_gpu_layers_requested: int | None = None
    draft_gpu_layers_resident: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMemory:
    device: str
    peak_mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    id: str
    role: Role
    method: Method
    outcome: Outcome = "ok"
    baseline: str | None = None
    concurrency: int | None = None
    placement: Placement | None = None
    argv: tuple[str, ...] | None = None
    load_s: float | None = None
    peak_memory: tuple[DeviceMemory, ...] | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    arm: str
    prompt: str
    block: int
    order: int
    outcome: Outcome
    reason: Reason | None = None
    prompt_ms: float | None = None
    output_tokens: int | None = None
    decode_ms: float | None = None
    draft_ms: float | None = None
    verify_ms: float | None = None
    wall_ms: float | None = None
    ttft_ms: float | None = None
    rounds: int | None = None
    full_rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    drafted_histogram: tuple[int, ...] | None = None
    round_ms_median: tuple[float, ...] | None = None
    round_cpu_ms_median: tuple[float, ...] | None = None
    finish: Literal["length", "stop"] | None = None
    output_sha256: str | None = None
    compared_tokens: int | None = None
    first_divergence: int | None = None
    divergence_margin: float | None = None
    energy_j: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmup:
    arm: str
    output_tokens: int
    decode_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationProbe:
    context_tokens: int
    repeats: int
    widths: tuple[int, ...]
    step_ms_median: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftingProbe:
    draft: str
    repeats: int
    token_ms_median: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    verification: VerificationProbe | None = None
    drafting: tuple[DraftingProbe, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    moment: Literal["before", "after", "during"]
    load_1min: float | None = None
    steal_fraction: float | None = None
    cpu_pressure: float | None = None
    cpu_mhz: float | None = None
    on_battery: bool | None = None
    gpu_clock_mhz: float | None = None
    gpu_temperature_c: float | None = None
    gpu_power_w: float | None = None
    gpu_throttled: bool | None = None
    available_ram_mib: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    tier: Literal["measured", "imported"]
    profile: Literal["default", "quick", "custom"]
    measured_from: str
    measured_until: str
    tool: Tool
    machine: Machine
    engine: Engine
    target: Model
    drafts: tuple[Model, ...]
    settings: Settings
    design: Design
    suite: Suite
    arms: tuple[Arm, ...]
    trials: tuple[Trial, ...]
    format: Literal["draftmap-submission"] = "draftmap-submission"
    version: Literal[1] = 1
    licence: Literal["CC-BY-4.0"] = "CC-BY-4.0"
    contributor: str | None = None
    notes: str | None = None
    origin: Origin | None = None
    warmups: tuple[Warmup, ...] | None = None
    probes: Probes | None = None
    environment: tuple[Snapshot, ...] | None = None
