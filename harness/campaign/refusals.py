"""Refuse a campaign that cannot work, judging by the headers of its models."""

from collections.abc import Iterator

from harness.campaign.model import Campaign, RunSettings
from harness.errors import BadInputError
from harness.models import gguf_file, gguf_header, gguf_shape
from harness.models.model_file import ModelFile
from harness.models.resolve import own_head
from schemas.method import DRAFT_MODEL
from schemas.vocabulary import METHODS
from schemas.vocabulary.axes import AXES

_UNQUANTISED = ("f16", "bf16", "f32")
_THOUGHT = "think"


def require_sensible(campaign: Campaign) -> None:
    """Raise `BadInputError` with the first reason why a campaign cannot work, if there is one."""
    if (reason := next(_reasons(campaign), None)) is not None:
        raise BadInputError(reason)


def _reasons(campaign: Campaign) -> Iterator[str]:
    target = campaign.target
    drafts = {draft.model.id: draft for draft in campaign.drafts}
    for method in [arm.method for arm in campaign.arms]:
        named = campaign.drafts[:1] if method.chain else ()  # the arm of a chain names no draft
        draft = next(iter(named), drafts.get(method.draft or ""))
        if method.type == DRAFT_MODEL and draft and (reason := no_draft(target, draft)):
            yield reason
        for kind in method.types:
            if reason := _no_head(target, draft, kind):
                yield reason
    yield from _wrong_settings(target, campaign.settings)


def _wrong_settings(target: ModelFile, settings: RunSettings) -> Iterator[str]:
    if settings.flash_attention == "off" and settings.kv_type_v not in _UNQUANTISED:
        yield (
            f"--cache-type-v {settings.kv_type_v} needs flash attention; "
            "leave out --flash-attention off"
        )
    if target.is_here and target.model.active_parameters is None:
        for axis in AXES.values():
            if axis.mixtures and axis.value(settings):
                yield f"{target.model.name} has no experts; leave out --{axis.option}"
    if settings.thinking and target.is_here:
        template = gguf_header.chat_template(target.on_disk)
        if template is not None and _THOUGHT not in template:
            yield f"{target.model.name} has no thinking mode; leave out --thinking"


def no_draft(target: ModelFile, draft: ModelFile) -> str | None:
    """Return why a file cannot be a draft model for the target; `None` if it may be."""
    ours, theirs = target.model, draft.model
    if target.is_here and draft.is_here and target.on_disk.samefile(draft.on_disk):
        return f"{theirs.name} is the target itself; name a smaller model with --draft"
    if ours.file_bytes and theirs.file_bytes and theirs.file_bytes > ours.file_bytes:
        ratio = theirs.file_bytes / ours.file_bytes
        return (
            f"the draft {theirs.name} {theirs.quantisation} is {ratio:.1f} times as large as the "
            f"target {ours.name} {ours.quantisation}, so it cannot be faster; swap target and "
            "draft"
        )
    return None


def _no_head(target: ModelFile, draft: ModelFile | None, kind: str) -> str | None:
    """Return why neither file has the head that a method needs; `None` if a file may have it."""
    words, name = METHODS[kind].architectures, target.model.name
    if draft is not None:
        about = f"{draft.model.architecture} {draft.model.name}".lower()
        if not words or not draft.is_here or any(word in about for word in words):
            return None
        header = gguf_file.opened(draft.on_disk)
        if METHODS[kind].draft == "built-in" and header.own("nextn_predict_layers"):
            return None
        return (
            f"{draft.model.name} is a model ({header.architecture}), not a head for "
            f"{METHODS[kind].label}, so the method {kind} cannot use it; name a head's file, or "
            f"use --method {DRAFT_MODEL}"
        )
    if METHODS[kind].draft != "built-in" or target.path is None:
        return None
    here = target.is_here
    if gguf_shape.facts_of_file(target.on_disk).draft_layers if here else own_head(name):
        return None
    instead = "" if METHODS[kind].instrument else ", or use --method ngram-simple"
    return (
        f"{name} has no built-in prediction head, so {kind} cannot run; name a draft with "
        f"--draft{instead}"
    )
