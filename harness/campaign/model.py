"""The frozen values that describe a campaign: suite, arms, settings, plan."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from harness.models.model_file import ModelFile
from schemas.submission import Axes, FlashAttention, Language, Method, Role, Task
from schemas.vocabulary import METHODS

Profile = Literal["default", "quick", "custom"]
Interleaved = Literal["prompt", "block"]
Pause = Literal["answer", "pass"]  # when the next engine takes over
# The file format's patterns of ids and versions, so that a suite is checked before measuring.
Id = Annotated[str, Meta(pattern=r"\A[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?\Z")]
_Version = Annotated[str, Meta(pattern=r"\A[0-9]+\.[0-9]+\.[0-9]+\Z")]
# Prompt processing yields the first token; only later tokens are timed.
_Tokens = Annotated[int, Meta(ge=2)]
ALL_LAYERS = -1
DEFAULT_CONTEXT_TOKENS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePrompt:
    """One prompt of a suite: a user's message, or a conversation that ends with a user's message.

    `schema` is JSON at the end of the text: the JSON Schema of the answer, or the tools to call.
    """

    id: Id
    task: Task
    text: Annotated[str, Meta(pattern=r"\S")]
    quick: bool = False
    schema: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSuite:
    """A suite, or a selection of its prompts; `sha256` always covers the whole suite.

    Tasks in `on_request` run only if they are named.

    These fields, except the digest, are the keys of a suite's file; any other keys in the file are
    notes for people.
    """

    id: Id
    version: _Version
    max_output_tokens: _Tokens
    quick_max_output_tokens: _Tokens
    prompts: Annotated[tuple[SuitePrompt, ...], Meta(min_length=1)]
    on_request: tuple[Task, ...] = ()
    language: Literal["en"] | Language = "en"
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPlan:
    """One configuration to compare. `baseline` is the id of the arm used as its reference.

    `gpu_layers` overrides the number of the target's GPU layers in the campaign's settings; in such
    an arm the target may use all memory, because no draft is loaded. `concurrency` is the number of
    requests in flight at once; it is the same in the arm's baseline.
    """

    id: str
    role: Role
    method: Method
    baseline: str | None = None
    gpu_layers: int | None = None
    concurrency: int = 1

    @property
    def drafts(self) -> bool:
        """Whether the arm may draft: speculating arms and some controls do."""
        return METHODS[self.method.type].drafts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(Axes):
    """Settings of all arms. `None` lets the engine decide; the result file records its decision.

    `context_depth_tokens` is the number of tokens before the answer; `None` leaves the suite's
    prompts unpadded. Without a `temperature`, decoding is greedy. `cpu_expert_layers` counts layers
    from the first; -1 means all. Fields that are never `None` repeat the default in `axes.toml`.
    """

    max_output_tokens: int
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    batch_tokens: int = 512
    threads: int | None = None
    gpu_layers: int = ALL_LAYERS
    draft_gpu_layers: int = ALL_LAYERS
    thinking: bool = False
    sampling_seed: int = 0
    kv_type_k: str = "f16"
    kv_type_v: str = "f16"
    flash_attention: FlashAttention = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Conditions that end a campaign earlier or later than planned; `None` switches one off.

    If two times of an arm on a prompt differ by more than the share `repeat_beyond`, all arms
    answer that prompt once more after the last block.
    """

    budget_s: float | None = None
    repeat_beyond: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Everything that determines the trials of a run. Two equal campaigns have the same plan.

    `blocks` is the planned number; `stopping` may end the campaign earlier. Within a block the arms
    alternate prompt by prompt; if switching arms is expensive, each arm answers all prompts in one
    pass.
    `engine` identifies the engine: only the same engine can resume a journal.
    """

    profile: Profile
    target: ModelFile
    drafts: tuple[ModelFile, ...]
    arms: tuple[ArmPlan, ...]
    suite: PromptSuite
    settings: RunSettings
    blocks: int
    seed: int = 0
    stopping: Stopping = Stopping()
    interleaved: Interleaved = "prompt"
    engine: str = ""

    def files(self) -> dict[str, Path]:
        """The weight files by model id; a model that is a folder, or only on a server, has none."""
        models = (self.target, *self.drafts)
        return {each.model.id: each.path for each in models if each.path and each.path.is_file()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One generation of the plan; `order` is its position in the running order, from 0."""

    order: int
    block: int
    prompt: str
    arm: str


def layers_of(arm: ArmPlan, settings: RunSettings) -> int:
    """Return the number of the target's layers that an arm puts on the GPU."""
    return settings.gpu_layers if arm.gpu_layers is None else arm.gpu_layers
