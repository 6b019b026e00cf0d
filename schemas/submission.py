"""Define a submission in Python: frozen types that mirror submission.v2.schema.json.

The schema is the definition; a parity test compares the types with it field by field. An absent
value is `None`. Units are in the names; the schema describes each field.
"""

from dataclasses import dataclass
from typing import Literal

from schemas.method import Method
from schemas.rig import Cpu, Device, Engine, Gpu, Machine, OperatingSystem, Snapshot, Variable

# Other packages import these names from this module.
__all__ = [
    "Cpu", "Device", "Engine", "Gpu", "Machine", "Method", "OperatingSystem", "Snapshot",
    "Variable",
]  # fmt: skip

Task = Literal[
    "code", "math", "reasoning", "summarization", "chat", "json", "creative", "translation",
    "tools", "other",
]  # fmt: skip
Role = Literal["baseline", "speculation", "control", "alternative"]
Outcome = Literal["ok", "failed"]
Reason = Literal[
    "out-of-memory", "vocabulary-mismatch", "rollback-unsupported", "context-too-small",
    "load-failed", "crashed", "timed-out", "bad-answer", "interrupted", "other",
]  # fmt: skip
AnswerForm = Literal["valid", "invalid-json", "wrong-schema", "loop"]
FlashAttention = Literal["auto", "on", "off"]
Language = Literal["de", "fr", "zh", "ja"]
DraftSampling = Literal["greedy", "probabilistic"]
SplitMode = Literal["none", "layer", "row", "tensor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The measurements of one generation by a runner; an unmeasured value is `None`."""

    prompt_ms: float | None = None
    draft_prompt_ms: float | None = None
    ttft_ms: float | None = None
    wall_ms: float | None = None
    grain_ms: float | None = None
    energy_j: float | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial(Measured):
    arm: str
    prompt: str
    block: int
    order: int
    outcome: Outcome
    reason: Reason | None = None
    output_tokens: int | None = None
    decode_ms: float | None = None
    draft_ms: float | None = None
    verify_ms: float | None = None
    started_ms: float | None = None
    rounds: int | None = None
    full_rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    metrics_drafted: int | None = None
    metrics_accepted: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    drafted_histogram: tuple[int, ...] | None = None
    round_ms_median: tuple[float, ...] | None = None
    round_cpu_ms_median: tuple[float, ...] | None = None
    finish: Literal["length", "stop"] | None = None
    output_sha256: str | None = None
    compared_tokens: int | None = None
    first_divergence: int | None = None
    divergence_margin: float | None = None
    text_sha256: str | None = None
    equal_words: int | None = None
    one_token_ms: float | None = None
    answer: AnswerForm | None = None


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
class Axes:
    """The axes of a request, a run or a file: settings that distinguish results.

    `None` is the default or an unknown value.
    """

    context_depth_tokens: int | None = None
    temperature: float | None = None
    sampling_seed: int | None = None
    draft_sampling: DraftSampling | None = None
    kv_type_k: str | None = None
    kv_type_v: str | None = None
    flash_attention: FlashAttention | None = None
    cpu_expert_layers: int | None = None
    cpu_ffn_layers: int | None = None
    moe_cache_mib: int | None = None
    split_mode: SplitMode | None = None
    server_arguments: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Axes):
    sampling: Literal["greedy", "other"] = "greedy"
    max_output_tokens: int | None = None
    context_tokens: int | None = None
    batch_tokens: int | None = None
    micro_batch_tokens: int | None = None
    threads: int | None = None
    threads_batch: int | None = None
    thinking: bool | None = None
    chat_template_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    blocks: int
    order: Literal["sequential", "abba", "latin-square", "unknown"]
    planned_trials: int
    ended: Literal["completed", "precise-enough", "budget-spent", "interrupted"]
    seed: int | None = None
    resumed: int | None = None
    interleaved: Literal["prompt", "block"] | None = None
    plan_sha256: str | None = None
    precision: float | None = None
    budget_s: float | None = None
    repeat_beyond: float | None = None


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
    language: Language | None = None


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
    version: Literal[2] = 2
    licence: Literal["CC-BY-4.0"] = "CC-BY-4.0"
    contributor: str | None = None
    notes: str | None = None
    origin: Origin | None = None
    warmups: tuple[Warmup, ...] | None = None
    probes: Probes | None = None
    environment: tuple[Snapshot, ...] | None = None
