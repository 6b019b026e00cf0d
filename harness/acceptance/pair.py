"""Find the target, its draft and the answers, and refuse what does not belong together."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from answers.presets import DEFAULT_TARGET, default_draft, preset_named
from harness.acceptance.options import AcceptanceOptions
from harness.campaign.arms import takes_draft
from harness.campaign.builder import DEFAULT_RUNNER_ENTRY
from harness.campaign.from_options import campaign_from
from harness.campaign.method_parser import defaults, parse
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS, Campaign
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.models import gguf_header
from harness.models.resolve import on_disk
from harness.run import kept_answers
from harness.run.kept_answers import KeptAnswer, Writer
from schemas.method import DRAFT_MODEL
from schemas.submission import Model

# What decides which answers are written; a file has its own.
_OF_ANSWERS = ("suite", "tasks", "prompts", "max_output_tokens", "quick")
_CHARACTERS_PER_TOKEN = 2  # fewer than texts have, so that their tokens fit
_ROOM = 64  # for the tokens that are drafted to time them
_STEP = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A campaign whose first draft is read, the answers in a file, and the target's file.

    `target` is `None` where the target is not on this disk or not named, as with answers it need
    not be.
    """

    campaign: Campaign
    draft: Model
    answers: tuple[KeptAnswer, ...] | None
    target: Path | None
    target_name: str

    @property
    def plain(self) -> Campaign:
        """The target alone, which writes every answer once."""
        baseline = tuple(arm for arm in self.campaign.arms if arm.role == "baseline")
        return replace(self.campaign, arms=baseline, drafts=())


def pair_of(options: Options, asked: AcceptanceOptions, say: Callable[[str], None]) -> Pair:
    """The models and the answers. Raises `HarnessError` when one is missing or does not fit."""
    if len(options.drafts) > 1:
        message = "name one draft at a time; --keep-answers and --answers save writing them again"
        raise BadInputError(message)
    options = replace(options, blocks=1)
    if asked.answers is None:
        return _both(replace(options, target=options.target or DEFAULT_TARGET), None, say)
    kept = kept_answers.read(asked.answers)
    own = next((each for each in _OF_ANSWERS if getattr(options, each) != _usual(each)), None)
    if own or asked.keep_answers:
        flag = f"--{(own or 'keep_answers').replace('_', '-')}".replace("max-output", "max")
        message = f"{asked.answers} has the prompts and their answers; leave out {flag}"
        raise BadInputError(message)
    context = options.context_tokens or _context(kept)
    options = replace(options, context_tokens=context)
    here = options.target is not None and on_disk(options.target) is not None
    pair = (_both if here else _draft_alone)(options, kept, say)
    reason = next(_foreign(pair), None)
    if reason is not None:
        message = f"{asked.answers}: {reason}"
        raise BadInputError(message)
    return pair


def _both(
    options: Options, kept: tuple[KeptAnswer, ...] | None, say: Callable[[str], None]
) -> Pair:
    """Target and draft on this disk; their vocabularies are compared."""
    campaign = campaign_from(replace(options, methods=(parse(DRAFT_MODEL),)), say=say)
    target, draft = campaign.target.model, campaign.drafts[0].model
    if target.sha256 == draft.sha256:
        message = f"{draft.name} {draft.quantisation} is the target itself; name a smaller model"
        raise BadInputError(message)
    return Pair(
        campaign=campaign,
        draft=draft,
        answers=kept,
        target=campaign.target.on_disk,
        target_name=f"{target.name} {target.quantisation}",
    )


def _draft_alone(
    options: Options, kept: tuple[KeptAnswer, ...], say: Callable[[str], None]
) -> Pair:
    """Only the draft, with the answers of a target that is elsewhere."""
    names = (each.target.name for each in kept if each.target)
    name = options.target or next(names, "the model that answered")
    usual = default_draft(options.target) if options.target else None
    draft = options.drafts[0] if options.drafts else usual.name if usual else None
    if draft is None:
        message = f"no draft is known for {name}; name one with --draft"
        raise BadInputError(message)
    # Methods without a draft: the campaign is for its settings and the draft's description.
    methods = tuple(each for each in defaults(DEFAULT_RUNNER_ENTRY) if not takes_draft(each))
    options = replace(options, target=draft, drafts=(), methods=methods)
    campaign = campaign_from(options, say=say)
    if not all(each.prompt_ids and each.tokens for each in kept):
        say(f"{name} is not here: texts are read with the vocabulary and template of the draft.")
    return Pair(
        campaign=replace(campaign, drafts=(campaign.target,)),
        draft=campaign.target.model,
        answers=kept,
        target=None,
        target_name=name,
    )


def _foreign(pair: Pair) -> Iterator[str]:
    """Why answers are not those of this target, or cannot be read by this draft."""
    target = pair.campaign.target.model if pair.target else None
    template = gguf_header.chat_template(pair.target) if pair.target else None
    digest = hashlib.sha256(template.encode()).hexdigest() if template else None
    for writer in dict.fromkeys(each.target for each in pair.answers or () if each.target):
        if target is None:
            yield from _unlike(writer, pair)
        elif _differ(writer.sha256, target.sha256):
            yield f"{writer.name} wrote these answers, and not {pair.target_name}; name that model"
        elif _differ(writer.chat_template_sha256, digest):
            yield f"they were asked for under another chat template than {pair.target_name} has"


def _differ(one: str | None, other: str | None) -> bool:
    """Whether two digests are known and not the same."""
    return None not in (one, other) and one != other


def _unlike(writer: Writer, pair: Pair) -> Iterator[str]:
    """The same where the target is not here to be compared."""
    preset = preset_named(pair.target_name)
    if preset and preset.model.lower() not in writer.name.lower():
        yield f"{writer.name} wrote these answers, and not {preset.model}; name that model"
    if writer.sha256 and writer.sha256 == pair.draft.sha256:
        yield f"{pair.draft.name} {pair.draft.quantisation} wrote them; name a smaller model"
    if _differ(writer.tokenizer_sha256, pair.draft.tokenizer_sha256):
        yield (
            f"{pair.draft.name} has another vocabulary than {writer.name}; where they differ in "
            "a few tokens only, name the file of the target, so that they can be compared"
        )


def _usual(name: str) -> object:
    return getattr(Options(), name)


def _context(kept: tuple[KeptAnswer, ...]) -> int:
    """The context that the longest answer and its prompt take."""
    sizes = (
        len(each.prompt_ids or "") + len(each.tokens or "")
        or (len(each.prompt) + len(each.answer or "")) // _CHARACTERS_PER_TOKEN
        for each in kept
    )
    return max(DEFAULT_CONTEXT_TOKENS, -(-(max(sizes) + _ROOM) // _STEP) * _STEP)
