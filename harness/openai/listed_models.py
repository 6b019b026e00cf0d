"""Read the models that a server lists, and choose the model to measure."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import BadInputError, suggestion
from harness.machine.lenient_json import part
from harness.runners.http.client import Client, ServerRefusedError, as_json
from harness.runners.http.values import count
from schemas.codec import Json
from schemas.public_text import is_word

# Status codes of servers without a page that lists models.
NO_PAGE = (404, 405, 501)

_MOST_SHOWN = 5
_FEWEST = 1000
_QUANTISATION = re.compile(
    r"(?:all |mostly )?(?P<name>[A-Za-z0-9][A-Za-z0-9_.]{0,29})(?: - (?P<size>Small|Medium|Large))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One model in a server's list. A fact that the server does not report is `None`.

    The id is empty if the server lists no models: requests then name no model. `root` is the source
    of the weights in vLLM and SGLang: a repository of the hub or a folder.
    """

    id: str
    root: str | None = None
    owner: str | None = None
    context_tokens: int | None = None
    parameters: int | None = None
    file_bytes: int | None = None
    vocabulary_size: int | None = None
    quantisation: str | None = None
    digest: str | None = None


def listed(client: Client) -> tuple[Served, ...]:
    """Return the models that a server lists; empty if it lists none or has no such page.

    Raises the errors of `Client`. `mlx_lm.server` answers with an empty body if no hub cache
    exists.
    """
    path = f"{client.address.api}/models"
    try:
        text = client.text(path)
    except ServerRefusedError as error:
        if error.status not in NO_PAGE:
            raise
        return ()
    return read_models(as_json(text, path)) if text.strip() else ()


def read_models(answer: Json) -> tuple[Served, ...]:
    """Return the models in an answer to `/v1/models`; empty if the answer has a different form."""
    listed = part(answer).get("data")
    entries = listed if isinstance(listed, list) else []
    return tuple(
        _served(entry) for entry in entries if isinstance(entry, dict) and _text(entry, "id")
    )


def choose(models: Sequence[Served], name: str | None, *, where: str) -> Served:
    """Return the model with this name, or the only model if `name` is `None`.

    If the server lists no models, return one with just the name. Otherwise raises `BadInputError`
    with a list of the models.
    """
    if not models:
        return Served(id=name or "")
    if name is None:
        if len(models) == 1:
            return models[0]
        why = f"{len(models)} models ({shown(models)})"
        raise BadInputError(f"{where} offers {why}; name the model to measure with --served-model")
    model = next((model for model in models if model.id == name), None)
    if model is None:
        near = suggestion(name, [model.id for model in models]) or f" It has {shown(models)}."
        raise BadInputError(f"{where} does not offer {name!r}.{near}")
    return model


# Facts about the weights, the most reliable first; names, dates and limits are excluded.
_OF_WEIGHTS = ("digest", "file_bytes", "parameters", "quantisation", "vocabulary_size", "root")
ANOTHER_NAME = "another name"
_SHOW_SAMENESS = ("digest", "file_bytes", "root")


def difference(one: Served, other: Served) -> str | None:
    """Return the difference between the models of two servers; `None` if the models are the same.

    Every fact about the weights that both servers report must be equal. Two names refer to the same
    model if source, digest or exact size in bytes is equal.
    """
    both = {
        name: pair
        for name in _OF_WEIGHTS
        if None not in (pair := (getattr(one, name), getattr(other, name)))
    }
    for name, (ours, theirs) in both.items():
        if ours != theirs:
            return f"{name.replace('_', ' ')} {ours} and {theirs}"
    return None if one.id == other.id or {*both} & {*_SHOW_SAMENESS} else ANOTHER_NAME


def other_model(names: Collection[str], served: Served) -> str | None:
    """Return the model that an answer names, if that is not the requested model.

    Servers shorten names: only the part after the last slash is compared, in lower case.
    """
    if not served.id:
        return None
    known = {_last(name) for name in (served.id, served.root) if name}
    return next((name for name in sorted(names) if name and _last(name) not in known), None)


def _last(name: str) -> str:
    return re.split(r"[/\\]", name.rstrip("/\\"))[-1].lower()


def shown(models: Sequence[Served]) -> str:
    """Return the models' names as one string, with only the first few if there are many."""
    names = [model.id for model in models]
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return (", ".join(names[:_MOST_SHOWN]) or "none") + more


def offer(models: Sequence[Served]) -> str:
    """Return advice for an answer "not found": the listed models, or to correct the URL."""
    if not models:
        return "; correct the URL, or check which server listens there"
    return f"; it offers {shown(models)}: choose with --served-model, or correct the URL"


def _served(entry: Mapping[str, Json]) -> Served:
    stated = part(entry, "meta")  # llama.cpp
    return Served(
        id=_text(entry, "id") or "",
        root=_text(entry, "root"),
        owner=_text(entry, "owned_by"),
        # vLLM and SGLang; llama.cpp
        context_tokens=count(entry, "max_model_len") or count(stated, "n_ctx"),
        parameters=_large_count(stated, "n_params"),
        file_bytes=_large_count(stated, "size"),
        vocabulary_size=_large_count(stated, "n_vocab"),
        # LM Studio; llama.cpp
        quantisation=quantisation(_text(entry, "quantization") or _text(stated, "ftype") or ""),
        digest=_text(entry, "digest") or _text(entry, "sha256"),
    )


def quantisation(text: str) -> str | None:
    """Return the short name of a quantisation: `Q4_K_M` for llama.cpp's `Q4_K - Medium`."""
    match = _QUANTISATION.match(text)
    if match is None:
        return None
    name = match["name"] + (f"_{match['size'][0]}" if match["size"] else "")
    return name if is_word(name) else None


def _large_count(values: Mapping[str, Json], name: str) -> int | None:
    """Return a count; `None` if it is missing or too small to describe a model."""
    found = count(values, name)
    return found if found is not None and found >= _FEWEST else None


def _text(values: Mapping[str, Json], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None
