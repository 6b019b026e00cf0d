"""The frozen values that describe a campaign: suite, arms, settings, plan."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from harness.models.model_file import ModelFile
from schemas.axes import Axes, FlashAttention
from schemas.submission import Method, Role, Task
from schemas.vocabulary import METHODS

Profile = Literal["default", "quick", "custom"]
Interleaved = Literal["prompt", "block"]
Pause = Literal["answer", "pass"]  # when the next engine takes over
# The format's forms of ids and versions; a suite is checked before measuring, not after.
Id = Annotated[str, Meta(pattern=r"\A[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?\Z")]
_Version = Annotated[str, Meta(pattern=r"\A[0-9]+\.[0-9]+\.[0-9]+\Z")]
# The first token comes out of the prompt; only the ones after it are timed.
_Tokens = Annotated[int, Meta(ge=2)]
ALL_LAYERS = -1
DEFAULT_CONTEXT_TOKENS = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePrompt:
    """One prompt of a suite: what the user types, or a conversation that ends with it.

    `schema` is JSON at the end of the text: the JSON Schema of the answer, or the tools to call.
    """

    id: Id
    task: Task
    text: Annotated[str, Meta(pattern=r"\S")]
    quick: bool = False
    schema: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSuite:
    """A suite, or a selection; `sha256` covers all of it. Tasks `on_request` have to be named.

    A suite's file has these keys but the digest; others describe it for people.
    """

    id: Id
    version: _Version
    max_output_tokens: _Tokens
    quick_max_output_tokens: _Tokens
    prompts: Annotated[tuple[SuitePrompt, ...], Meta(min_length=1)]
    on_request: tuple[Task, ...] = ()
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPlan:
    """One configuration to compare. `baseline` is the id of the arm that it is compared with.

    `gpu_layers` is where the target's layers go if not where the campaign's settings put them; such
    an arm has the memory to itself: no draft is loaded with it. `concurrency` is how many
    requests are in flight at once; the baseline has as many.
    """

    id: str
    role: Role
    method: Method
    baseline: str | None = None
    gpu_layers: int | None = None
    concurrency: int = 1

    @property
    def drafts(self) -> bool:
        """Whether anything may be drafted: by what speculates, and by some controls."""
        return METHODS[self.method.type].drafts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(Axes):
    """How every arm runs. `None` lets the engine decide; the file records what it decided.

    `context_depth_tokens` is how many tokens come before the answer, `None` where the prompts are
    as the suite has them. Without a `temperature` the likeliest token is taken. Layers in
    `cpu_expert_layers` are the first ones; -1 means all. What is never `None` here repeats the
    usual value in `axes.toml`.
    """

    max_output_tokens: int
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    batch_tokens: int = 512
    threads: int | None = None
    gpu_layers: int = ALL_LAYERS
    draft_gpu_layers: int = ALL_LAYERS
    thinking: bool = False
    context_depth_tokens: int | None = None
    sampling_seed: int = 0
    kv_type_k: str = "f16"
    kv_type_v: str = "f16"
    flash_attention: FlashAttention = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """When a campaign ends before all planned blocks ran, or later. `None` switches a reason off.

    `precision` is the half-width of the interval over blocks that is narrow enough, as a share of
    the ratio; it is looked at from `least_blocks` on. A prompt on which two times of an arm differ
    by more than `repeat_beyond`, a share, is written once more by all arms after the last block.
    """

    least_blocks: int = 3
    precision: float | None = None
    budget_s: float | None = None
    repeat_beyond: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Everything that decides what is run. Two equal campaigns have the same plan.

    `blocks` are planned; `stopping` may end the campaign after fewer. Within a block the arms take
    turns prompt by prompt, or each arm answers all prompts in one pass where switching arms is
    expensive. `engine` identifies the engine: a journal is resumed with the same one only.
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

    @property
    def least_blocks(self) -> int:
        """How many blocks run even if they agree perfectly."""
        return self.blocks if self.stopping.precision is None else self.stopping.least_blocks

    def files(self) -> dict[str, Path]:
        """The files of the models by id; none for a folder, and what only a server has."""
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
    """Layers of the target that an arm puts on the GPU."""
    return settings.gpu_layers if arm.gpu_layers is None else arm.gpu_layers
