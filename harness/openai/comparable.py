"""Refuse servers that cannot be compared: another engine or model, or speculation in both arms."""

import re
from contextlib import suppress

from harness.machine.lenient_json import part
from harness.openai.connection import Connection
from harness.openai.exchange import DRAFTS_BY_REQUEST
from harness.openai.listed_models import ANOTHER_NAME, difference, shown
from harness.runners.base import FailedError, Failure
from harness.runners.http.client import Client, ServerError
from schemas.codec import Json
from schemas.method import NO_SPECULATION, Method, limit

_TWO_MODELS = (
    "Create two models with `ollama create NAME -f MODELFILE`. For --served-model, use `FROM "
    "MODEL` and `PARAMETER draft_num_predict 0`. For --spec-served-model, use `FROM MODEL` and "
    "`PARAMETER draft_num_predict N` (N is the n_max of --method)"
)
_DEPTH = re.compile(r"^draft_num_predict\s+(\d+)", re.MULTILINE)
_DRAFT = re.compile(r"^DRAFT\s", re.MULTILINE)
_HEADS = ".nextn_predict_layers"
_SAME_SERVER = "this is the baseline's server; a server started with speculation is needed"
_OLLAMA = (
    f"this is the baseline's server, and Ollama drafts as the model's settings state. {_TWO_MODELS}"
)


def require_method(server: Connection, method: Method) -> None:
    """Raise `FailedError` if an Ollama's model drafts in another way than its arm's method."""
    if server.identity.name == "Ollama":
        detail = _rejection(server.client, server.served.id, method)
        if detail is not None:
            raise not_comparable(detail)


def require_comparable(
    server: Connection, base: Connection, *, draft: str | None, named: bool = False
) -> None:
    """Raise `FailedError` if a server differs from the baseline's, or is that server.

    One server may run both arms if it is LM Studio, which drafts if a request names a draft model,
    or if the user `named` a model for each arm.
    """
    ours, theirs = server.identity, base.identity
    if (ours.shown_name, ours.version) != (theirs.shown_name, theirs.version):
        raise not_comparable(
            f"this server is {ours.shown_name} {ours.shown_version}, but the baseline's server "
            f"is {theirs.shown_name} {theirs.shown_version}; all arms of a result must use the "
            "same engine"
        )
    apart = difference(server.served, base.served)
    if apart is not None and not (named and apart == ANOTHER_NAME):
        raise not_comparable(
            f"this server offers {server.served.id}, but the baseline's server offers "
            f"{base.served.id} ({apart}); start both servers with the same weights, under the "
            "same name"
        )
    if ours.name in DRAFTS_BY_REQUEST:
        if draft is None or any(model.id == draft for model in ours.models):
            return
        detail = f"{server.client.address} offers no model {draft}; it has {shown(ours.models)}"
        raise FailedError(Failure(reason="load-failed", detail=detail))
    one_server = server.process is None and server.client.address == base.client.address
    if one_server and (not named or server.served.id == base.served.id):
        raise not_comparable(_OLLAMA if ours.name == "Ollama" else _SAME_SERVER)


def not_comparable(detail: str) -> FailedError:
    return FailedError(Failure(reason="other", detail=" ".join(detail.split())))


def _rejection(client: Client, model: str, method: Method) -> str | None:
    """Return why a model's Modelfile does not fit a method; `None` if it fits or is unknown.

    Ollama may use a model's draft heads or draft model unless a `PARAMETER` turns drafting off.
    """
    shown: Json = None
    with suppress(ServerError):
        shown = client.post(f"{client.address.root}/api/show", {"model": model})
    if not isinstance(shown, dict):
        return None
    stated = _DEPTH.search(str(shown.get("parameters")))
    depth = int(stated[1]) if stated else None
    facts = part(shown, "model_info")
    heads = any(key.endswith(_HEADS) and value for key, value in facts.items())
    may_draft = heads or _DRAFT.search(str(shown.get("modelfile"))) is not None
    if method == NO_SPECULATION and (depth or (depth is None and may_draft)):
        drafts = (
            f"drafts up to {depth} tokens"
            if depth
            else "may draft on its own, with heads or a draft"
        )
        return f"{model} is the baseline, but {drafts}. {_TWO_MODELS}"
    if method != NO_SPECULATION and stated and depth != limit(method):
        return f"{model} drafts up to {depth} tokens, but the method has n_max={limit(method)}"
    return None
