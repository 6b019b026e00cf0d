"""Refuses a campaign that the headers of its models show to be pointless."""

from collections.abc import Iterator

from harness.campaign.model import Campaign
from harness.errors import BadInputError
from harness.models import gguf_header, gguf_shape
from harness.models.model_file import ModelFile
from harness.models.resolve import own_head
from schemas.method import DRAFT_MODEL
from schemas.vocabulary import METHODS

_UNQUANTISED = ("f16", "bf16", "f32")
_THOUGHT = "think"


def require_sensible(campaign: Campaign) -> None:
    """Raise `BadInputError` with the first reason why a campaign cannot be what was meant."""
    if (reason := next(_reasons(campaign), None)) is not None:
        raise BadInputError(reason)


def _reasons(campaign: Campaign) -> Iterator[str]:
    target, settings = campaign.target, campaign.settings
    drafts = {draft.model.id: draft for draft in campaign.drafts}
    for method in [arm.method for arm in campaign.arms]:
        draft = drafts.get(method.draft or "")
        if method.type == DRAFT_MODEL and draft and (reason := no_draft(target, draft)):
            yield reason
        built_in = any(METHODS[kind].draft == "built-in" for kind in method.types)
        if built_in and draft is None and target.path is not None:
            headed = (
                gguf_shape.facts_of_file(target.on_disk).draft_layers
                if _is_here(target)
                else own_head(target.model.name)
            )
            if not headed:
                yield (
                    f"{target.model.name} has no built-in prediction head, so {method.type} cannot "
                    "run; name a draft with --draft, or --method ngram-simple"
                )
    if settings.flash_attention == "off" and settings.kv_type_v not in _UNQUANTISED:
        yield (
            f"--cache-type-v {settings.kv_type_v} needs flash attention; "
            "leave out --flash-attention off"
        )
    if settings.thinking and _is_here(target):
        template = gguf_header.chat_template(target.on_disk)
        if template is not None and _THOUGHT not in template:
            yield f"{target.model.name} has no thinking mode; leave out --thinking"


def no_draft(target: ModelFile, draft: ModelFile) -> str | None:
    """Why a file makes no sense as a draft model for another; `None` if it may."""
    ours, theirs = target.model, draft.model
    if _is_here(target) and _is_here(draft) and target.on_disk.samefile(draft.on_disk):
        return f"{theirs.name} is the target itself; name a smaller model with --draft"
    if ours.file_bytes and theirs.file_bytes and theirs.file_bytes > ours.file_bytes:
        ratio = theirs.file_bytes / ours.file_bytes
        return (
            f"the draft {theirs.name} {theirs.quantisation} is {ratio:.1f} times as large as the "
            f"target {ours.name} {ours.quantisation}, so it cannot be faster; exchange the two"
        )
    return None


def _is_here(file: ModelFile) -> bool:
    return file.path is not None and file.path.is_file()
