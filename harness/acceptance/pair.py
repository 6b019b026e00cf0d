"""Find a draft model and its target; refuse any that do not match."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.campaign.from_options import campaign_from
from harness.campaign.method_parser import parse
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS, ArmPlan, Campaign, PromptSuite
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from planner.presets import DEFAULT_TARGET
from schemas.method import DRAFT_MODEL, Method
from schemas.submission import Model

_OF_PROMPTS = ("suite", "tasks", "prompts", "quick")  # they conflict with a file of prompts
_CHARACTERS_PER_TOKEN, _ROOM, _STEP = 2, 64, 256  # too few characters per token, so that texts fit
TIMED_TOKENS = 24  # the draft writes as many tokens to be timed
_READING = ArmPlan(id="baseline", role="baseline", method=Method(type="none", n_max=15))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairToRead:
    """A draft and its target: in `writes` the target writes answers, in `reads` the draft reads."""

    reads: Campaign
    writes: Campaign

    @property
    def draft(self) -> Model:
        return self.reads.target.model

    @property
    def target(self) -> ModelFile:
        return self.writes.target


def pair_of(
    options: Options, say: Callable[[str], None], texts: PromptSuite | None = None
) -> PairToRead:
    """Find target and draft on this disk; `texts` are the user's own prompts.

    Raises `HarnessError` unless both are there and match.
    """
    options = replace(options, target=options.target or DEFAULT_TARGET, blocks=1)
    if texts:
        _refuse_other_prompts(options)
        most = max(len(prompt.text) for prompt in texts.prompts) // _CHARACTERS_PER_TOKEN
        limit = options.max_output_tokens or texts.max_output_tokens
        context = options.context_tokens or _context(most + limit)
        options = replace(options, context_tokens=context, max_output_tokens=limit)
    campaign = campaign_from(replace(options, methods=(parse(DRAFT_MODEL),)), say=say)
    campaign = replace(campaign, suite=texts) if texts else campaign
    target, draft = campaign.target.model, campaign.drafts[0]
    if target.sha256 is not None and target.sha256 == draft.model.sha256:
        raise BadInputError(f"{name_of(target)} is the target itself; name a smaller model")
    baseline = tuple(arm for arm in campaign.arms if arm.role == "baseline")
    writes = replace(campaign, arms=baseline, drafts=())
    return PairToRead(reads=_reading(campaign, draft), writes=writes)


def _reading(campaign: Campaign, draft: ModelFile) -> Campaign:
    """Return a campaign that runs the draft as if it were the target, on the shortest prompt."""
    settings = campaign.settings
    settings = replace(
        settings, gpu_layers=settings.draft_gpu_layers, max_output_tokens=TIMED_TOKENS
    )
    shortest = min(campaign.suite.prompts, key=lambda prompt: len(prompt.text))
    suite = replace(campaign.suite, prompts=(shortest,))
    return replace(
        campaign, target=draft, drafts=(), arms=(_READING,), suite=suite, settings=settings
    )


def _refuse_other_prompts(options: Options) -> None:
    for name in _OF_PROMPTS:
        if getattr(options, name) != getattr(Options(), name):
            raise BadInputError(f"--texts already provides the prompts; leave out --{name}")


def name_of(model: Model) -> str:
    return f"{model.name} {model.quantisation}"


def _context(tokens: int) -> int:
    """Return a context size with room for these tokens and a chat template."""
    return max(DEFAULT_CONTEXT_TOKENS, -(-(tokens + _ROOM) // _STEP) * _STEP)
