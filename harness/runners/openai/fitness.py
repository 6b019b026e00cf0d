"""May a server be the one of an arm that speculates? What it says must fit what is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.runners.base import Failure
from harness.runners.openai.listing import Served, shown
from harness.runners.openai.requests import DRAFTS_BY_REQUEST

if TYPE_CHECKING:
    from harness.runners.openai.connection import Connection


def unfit(found: Connection, base: Connection, *, draft: str | None) -> Failure | None:
    """Why a server cannot be compared with the baseline's: another engine or model, or the same.

    LM Studio alone may be one server for both, as it drafts when a request names a draft model.
    """
    ours, theirs = found.identity, base.identity
    if (ours.shown_name, ours.version) != (theirs.shown_name, theirs.version):
        return _failure(
            f"this server is {ours.shown_name} {ours.version or ''}, the baseline's is "
            f"{theirs.shown_name} {theirs.version or ''}; a result is about one engine"
        )
    if not is_same_model(found.served, base.served):
        return _failure(
            f"this server offers {found.model}, the baseline's {base.model}; "
            "start both with the same model, under the same name"
        )
    if ours.name in DRAFTS_BY_REQUEST:
        known = draft is None or any(model.id == draft for model in ours.models)
        offered = f"{found.client.address} offers no model {draft}; it has {shown(ours.models)}"
        return None if known else Failure(reason="load-failed", detail=offered)
    if found.process is None and found.client.address == base.client.address:
        return _failure(
            "this is the baseline's server; one that was started with speculation is needed"
        )
    return None


def is_same_model(one: Served, other: Served) -> bool:
    """Whether two servers offer the same model: by name, by source, or by size to the byte."""
    return (
        one.id == other.id
        or (one.root is not None and one.root == other.root)
        or (one.file_bytes is not None and one.file_bytes == other.file_bytes)
    )


def _failure(detail: str) -> Failure:
    return Failure(reason="other", detail=" ".join(detail.split()))
