"""Find a draft model, its target and the target's answers; refuse any that do not match."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from answers.presets import DEFAULT_TARGET, default_draft
from harness.acceptance.kept_answers import KeptAnswer
from harness.campaign.arms import takes_draft
from harness.campaign.builder import DEFAULT_RUNNER_ENTRY
from harness.campaign.from_options import campaign_from
from harness.campaign.method_parser import defaults, parse
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS, ArmPlan, Campaign, PromptSuite
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.models.compatibility import compare_files, refusal
from harness.models.describe import describe
from harness.models.gguf_header import chat_template
from harness.models.model_file import ModelFile
from harness.models.resolve import on_disk, resolve
from schemas.method import DRAFT_MODEL, Method
from schemas.submission import Model

# Options that choose prompts. They conflict with a file of prompts or answers.
_OF_ANSWERS = ("suite", "tasks", "prompts", "quick")
_CHARACTERS_PER_TOKEN, _ROOM, _STEP = 2, 64, 256  # too few characters per token, so that texts fit
TIMED_TOKENS = 24  # the draft writes as many tokens to be timed
_READING = ArmPlan(id="baseline", role="baseline", method=Method(type="none", n_max=15))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairToRead:
    """A draft and its target, with the campaigns in which they read and write the answers.

    In `reads` the draft reads the target's answers; in `writes` the target writes them. `writes` is
    `None` if the answers are in a file; `target` is `None` if its file is not on this disk.
    """

    reads: Campaign
    writes: Campaign | None
    answers: tuple[KeptAnswer, ...]
    target: ModelFile | None
    target_name: str

    @property
    def draft(self) -> Model:
        return self.reads.target.model


def pair_to_write(
    options: Options, say: Callable[[str], None], texts: PromptSuite | None = None
) -> PairToRead:
    """Find target and draft on this disk; `texts` are the user's own prompts.

    Raises `HarnessError` unless both are there and match.
    """
    options = replace(options, target=options.target or DEFAULT_TARGET, blocks=1)
    if texts:
        _refuse_other_prompts(options, "--texts already provides the prompts")
        most = max(len(prompt.text) for prompt in texts.prompts) // _CHARACTERS_PER_TOKEN
        limit = options.max_output_tokens or texts.max_output_tokens
        context = options.context_tokens or _rounded(most + limit)
        options = replace(options, context_tokens=context, max_output_tokens=limit)
    campaign = campaign_from(replace(options, methods=(parse(DRAFT_MODEL),)), say=say)
    campaign = replace(campaign, suite=texts) if texts else campaign
    baseline = tuple(arm for arm in campaign.arms if arm.role == "baseline")
    _require_two(campaign.target.model, campaign.drafts[0].model)
    return PairToRead(
        reads=_reading(campaign, campaign.drafts[0]),
        writes=replace(campaign, arms=baseline, drafts=()),
        answers=(),
        target=campaign.target,
        target_name=_name(campaign.target.model),
    )


def pair_to_read(
    options: Options, answers: tuple[KeptAnswer, ...], say: Callable[[str], None]
) -> PairToRead:
    """Pair a draft with answers; the target need not be on this disk. Raises `HarnessError`."""
    _refuse_other_prompts(options, "--answers already provides the prompts and answers")
    if options.max_output_tokens is not None:
        raise BadInputError("--answers are written already; leave out --max-tokens")
    usual = default_draft(options.target) if options.target else None
    draft = options.drafts[0] if options.drafts else usual.name if usual else None
    if draft is None:
        raise BadInputError("no draft is known for this target; name a draft with --draft")
    here = options.target is not None and on_disk(options.target) is not None
    target = describe(resolve(options.target or "", say=say), say=say) if here else None
    methods = tuple(each for each in defaults(DEFAULT_RUNNER_ENTRY) if not takes_draft(each))
    context = options.context_tokens or _context(answers)
    options = replace(options, drafts=(), methods=methods, context_tokens=context)
    campaign = campaign_from(replace(options, target=draft), say=say)
    _require_match(answers, target, campaign.target)
    writers = [each.target for each in answers if each.target]
    stated = _name(writers[0]) if writers else "the model that wrote the answers"
    return PairToRead(
        reads=_reading(campaign, campaign.target),
        writes=None,
        answers=answers,
        target=target,
        target_name=_name(target.model) if target else options.target or stated,
    )


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


def _require_match(
    answers: tuple[KeptAnswer, ...], target: ModelFile | None, draft: ModelFile
) -> None:
    """Raise `HarnessError` if answers, target and draft do not match each other."""
    if target is not None:
        _require_two(target.model, draft.model)
        compared = compare_files(target.on_disk, draft.on_disk)
        if not compared.fits:
            raise refusal(target.model.name, draft.model.name, compared.reason)
    text = chat_template(target.on_disk) if target else None
    template = hashlib.sha256(text.encode()).hexdigest() if text else None
    for each in answers:
        writer = each.target
        if writer and target and _differ(writer.sha256, target.model.sha256):
            raise BadInputError(
                f"the answers were written by {_name(writer)}, not by {_name(target.model)}; "
                "name the model that wrote them"
            )
        if _differ(each.chat_template_sha256, template):
            raise BadInputError(
                "the answers were written with a chat template that differs from the target's"
            )
        if writer and target is None:
            _require_two(writer, draft.model)
            if _differ(writer.tokenizer_sha256, draft.model.tokenizer_sha256):
                raise BadInputError(
                    f"{draft.model.name} and {_name(writer)} have different vocabularies; if "
                    "they differ in only a few tokens, also name the target's file"
                )


def _refuse_other_prompts(options: Options, reason: str) -> None:
    for name in _OF_ANSWERS:
        if getattr(options, name) != getattr(Options(), name):
            raise BadInputError(f"{reason}; leave out --{name}")


def _require_two(target: Model, draft: Model) -> None:
    if target.sha256 is not None and target.sha256 == draft.sha256:
        raise BadInputError(
            f"{_name(draft)} is the target itself; name a smaller model with --draft"
        )


def _differ(one: str | None, other: str | None) -> bool:
    """Whether both digests are known and differ."""
    return None not in (one, other) and one != other


def _name(model: Model) -> str:
    return f"{model.name} {model.quantisation}"


def _context(answers: tuple[KeptAnswer, ...]) -> int:
    """Return the context size that has room for the longest answer and its prompt."""
    sizes = (
        len(each.prompt_ids or ()) + len(each.tokens or ())
        or (len(each.prompt) + len(each.answer or "")) // _CHARACTERS_PER_TOKEN
        for each in answers
    )
    return _rounded(max(sizes))


def _rounded(tokens: int) -> int:
    """Return a context size with room for these tokens and a chat template."""
    return max(DEFAULT_CONTEXT_TOKENS, -(-(tokens + _ROOM) // _STEP) * _STEP)
