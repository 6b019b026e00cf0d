"""Which draft belongs to which method? A head is no draft model, nor the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.methods import DraftHeadRequest, DraftModelRequest, method_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.methods import MethodRequest
    from harness.model import ModelFile

    Drafted = DraftModelRequest | DraftHeadRequest

# Words in the architecture of a file that is such a head: `eagle3`, `dflash`, `dflash-draft`.
# llama.cpp keeps DSpark under DFlash's name, a fork has one for it.
_HEADS = ("eagle3", "dflash", "dspark")
# Only these heads can be part of the target's own file.
_BUILT_IN = ("mtp",)


def takes_draft(request: MethodRequest) -> bool:
    """Whether a draft can belong to the method."""
    return isinstance(request, DraftModelRequest | DraftHeadRequest)


def needs_draft(request: MethodRequest) -> bool:
    """Whether the method cannot be without a draft."""
    return takes_draft(request) and method_type(request) not in _BUILT_IN


def drafts_of(
    request: Drafted, drafts: Sequence[ModelFile], *, among: Iterable[MethodRequest]
) -> list[ModelFile]:
    """The drafts that a method of the campaign is run with.

    All of them if no other type of method takes drafts; else those whose architecture says that
    they are meant, and for a draft model those that are no head.
    """
    types = {method_type(each) for each in among if takes_draft(each)}
    if len(types) == 1:
        return list(drafts)
    if isinstance(request, DraftModelRequest):
        return [draft for draft in drafts if not _is(draft, *_HEADS)]
    shared = request.type == "dspark" and "dflash" not in types
    names = ("dspark", "dflash") if shared else (request.type,)
    return [draft for draft in drafts if _is(draft, *names)]


def _is(draft: ModelFile, *names: str) -> bool:
    said = (draft.model.architecture or "").lower()
    return any(name in said for name in names)
