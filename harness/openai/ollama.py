"""Ask Ollama whether a model drafts, since Ollama's answers do not mention drafts."""

import re
from contextlib import suppress

from harness.machine.lenient_json import part
from harness.runners.http.client import Client, ServerError
from schemas.codec import Json
from schemas.method import NO_SPECULATION, Method, limit

TWO_MODELS = (
    "Create two models with `ollama create NAME -f MODELFILE`. For --served-model, use `FROM "
    "MODEL` and `PARAMETER draft_num_predict 0`. For --spec-served-model, use `FROM MODEL` and "
    "`PARAMETER draft_num_predict N` (N is the n_max of --method)"
)
_DEPTH = re.compile(r"^draft_num_predict\s+(\d+)", re.MULTILINE)
_DRAFT = re.compile(r"^DRAFT\s", re.MULTILINE)
_HEADS = ".nextn_predict_layers"


def rejection(client: Client, model: str, method: Method) -> str | None:
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
        return f"{model} is the baseline, but {drafts}. {TWO_MODELS}"
    if method != NO_SPECULATION and stated and depth != limit(method):
        return f"{model} drafts up to {depth} tokens, but the method has n_max={limit(method)}"
    return None
